// @ts-check
// All memories of the session side by side: choose one by mouse or keys, draw others over it.
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { groupDigits, pickUnit, plural } from "../../../base/format.js";
import { saveMenu } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { formatMs } from "../../../base/time_text.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { readCount } from "../data/memories.js";
import { COLUMNS, notesOf, overviewRows } from "../data/overview_rows.js";

/** @param {any} reply @param {any[]} memories @param {any} params
 * @param {{onChoose: (row: any) => void, onOverlay: (row: any) => void}} acts */
export function createOverview(reply, memories, params, acts) {
  const { onChoose, onOverlay } = acts;
  let rows = overviewRows(reply, memories);
  const several = memories.length > 1 || reply.hosts.length > 1;
  const left = { over: !several, host: reply.hosts.length < 2 };
  const columns = COLUMNS.filter((column) => !left[column.key]);
  const count = el("span", { class: "facts" });
  const table = createSortedTable({
    label: "memories of the session",
    className: "memories",
    minWidth: left.host ? 900 : 980, // what the memory is called stays readable
    columns,
    id: (row) => row.token,
    pick: pickUnit,
    fill,
    decorate,
    onOpen: (row) => row.memory && onChoose(row),
    onKey,
  });
  const how = several ? el("span", { class: "aside" }, "Enter chooses, o draws over") : null;
  const saves = {
    what: "memories",
    from: () => [params.get().run],
    table: { columns: () => columns, rows: () => table.lines() },
  };
  const node = chartSection("Memories", [count, how, saveMenu(saves)], [table.node], { class: "chart overview-table" });
  let chosen = null;
  /** @type {Map<string, string>} token to the class of its colour */
  let over = new Map();

  function fill(cell, { key, value, kind }, row) {
    if (key === "over" && row.memory) cell.append(overlayBox(row, over.get(row.token), row === chosen));
    else if (row.memory && kind !== "text" && (value(row) ?? null) === null) cell.textContent = "not told";
    else if (key === "when" && row.memory) cell.textContent = formatMs(value(row));
    else return false;
    return true;
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
    return el("span", { class: "over-box" }, box, swatch(isChosen ? "mem-heap" : (color ?? "none")));
  }

  function decorate(tr, row) {
    if (!row.memory) tr.classList.add("no-memory");
    else tr.title = notesOf(reply, row).join("\n");
  }

  /** "o" draws the row in focus over the chosen one; the rows above and below are the list's own keys. */
  function onKey(event, row) {
    if (event.key !== "o" || !row.memory || row === chosen) return false;
    onOverlay(row);
    return true;
  }

  /** More hosts were read: the lists that this was made of are longer. */
  function refresh() {
    rows = overviewRows(reply, memories);
  }

  function show(now, colors) {
    chosen = rows.find((row) => row.memory && row.memory === now?.memory) ?? null;
    over = colors;
    setText(count, countText(reply, memories));
    table.show(rows, unitMode(params.get()));
    table.mark({ selected: chosen?.token ?? null });
  }

  return { node, show, refresh, dispose: table.dispose };
}

function countText(reply, memories) {
  const events = memories.reduce((sum, one) => sum + one.memory.events, 0);
  const count = `${groupDigits(memories.length)} ${memories.length === 1 ? "memory" : "memories"}`;
  const read = reply.complete ? "" : ` (${groupDigits(readCount(reply))} read)`;
  return `${plural(reply.hosts.length, "host")}${read}, ${count}, ${plural(events, "event")}`;
}
