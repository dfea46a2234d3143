// @ts-check
// All memories of the session side by side: choose one by mouse or keys, draw others over it.
import { el, setText } from "../../../base/dom.js";
import { formatPercent, groupDigits, pickUnit, plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { createRowGrid } from "../../../base/row_grid.js";
import { formatMs } from "../../../base/time_text.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { COLUMNS, notesOf, overviewRows, reasonOf } from "../data/overview_rows.js";

/** @param {any} reply @param {any[]} memories @param {any} params
 * @param {{onChoose: (row: any) => void, onOverlay: (row: any) => void}} acts */
export function createOverview(reply, memories, params, acts) {
  const { onChoose, onOverlay } = acts;
  const rows = overviewRows(reply, memories);
  const several = memories.length > 1;
  const left = { over: !several, host: reply.hosts.length < 2 };
  const columns = COLUMNS.filter((column) => !left[column.key]);
  const count = el("span", { class: "facts" });
  const grid = createRowGrid(
    { count: () => rows.length, id: (i) => rows[i].token, fill, decorate },
    { label: "memories of the session", className: "memories", columns, onOpen, onKey },
  );
  const node = el(
    "section",
    { class: "chart overview-table" },
    el(
      "div",
      { class: "chart-head" },
      el("h2", {}, "Memories"),
      count,
      several ? el("span", { class: "aside" }, HOW) : null,
    ),
    grid.node,
  );
  let units = {};
  let chosen = null;
  /** @type {Map<string, string>} token to the class of its colour */
  let over = new Map();

  function fill(cell, column, i) {
    const { host, memory, token } = rows[i];
    if (column.key === "host") return setCell(cell, host.host);
    if (!memory) return column.key === "memory" ? setCell(cell, reasonOf(host)) : undefined;
    if (column.key === "over") return cell.append(overlayBox(rows[i], over.get(token), rows[i] === chosen));
    if (column.key === "memory") return setCell(cell, memory.memory_id);
    cell.append(...content(column, memory, units[column.key]));
  }

  function overlayBox(row, color, isChosen) {
    const box = el("input", {
      type: "checkbox",
      tabindex: -1,
      checked: Boolean(color) || isChosen,
      disabled: isChosen,
      "aria-label": `draw ${row.memory.memory_id} of ${row.host.host} over the chosen memory`,
      on: { click: (event) => event.stopPropagation(), change: () => onOverlay(row) },
    });
    return el(
      "span",
      { class: "over-box" },
      box,
      el("span", { class: `swatch ${isChosen ? "mem-heap" : (color ?? "none")}` }),
    );
  }

  function decorate(tr, i) {
    if (!rows[i].memory) tr.classList.add("no-memory");
    else tr.title = notesOf(reply, rows[i]).join("\n");
  }

  function onOpen(i) {
    if (rows[i].memory) onChoose(rows[i]);
  }

  /** "o" draws the row in focus over the chosen one; the rows above and below are the list's own keys. */
  function onKey(event, i) {
    if (event.key !== "o" || !rows[i].memory || rows[i] === chosen) return false;
    onOverlay(rows[i]);
    return true;
  }

  function show(now, colors) {
    chosen = rows.find((row) => row.memory && row.memory === now?.memory) ?? null;
    over = colors;
    const mode = unitMode(params.get());
    units = Object.fromEntries(
      columns
        .filter((column) => column.kind === "size")
        .map((column) => [
          column.key,
          pickUnit(Math.max(0, ...memories.map((one) => column.value(one.memory) ?? 0)), mode),
        ]),
    );
    setText(count, countText(reply, memories));
    grid.showSort(null);
    grid.reset();
    grid.mark({ selected: chosen?.token ?? null });
  }

  return { node, show, dispose: grid.dispose };
}

const HOW = "Enter chooses, o draws over";

function setCell(cell, text) {
  cell.textContent = text;
  cell.title = text;
}

function countText(reply, memories) {
  const events = memories.reduce((sum, one) => sum + one.memory.events, 0);
  const count = `${groupDigits(memories.length)} ${memories.length === 1 ? "memory" : "memories"}`;
  return `${plural(reply.hosts.length, "host")}, ${count}, ${plural(events, "event")}`;
}

function content(column, memory, unit) {
  const value = column.value?.(memory);
  if (column.kind === "size")
    return value === null || value === undefined ? ["not told"] : [sizeFigure(value, "auto", unit)];
  if (column.key === "when") return memory.peak_ps === null ? ["not told"] : [formatMs(memory.peak_ps)];
  if (column.key === "fragmentation") {
    const share = memory.at_peak?.fragmentation ?? null;
    return [share === null ? "not told" : formatPercent(share)];
  }
  return [groupDigits(value)];
}
