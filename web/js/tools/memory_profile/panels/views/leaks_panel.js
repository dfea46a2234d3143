// @ts-check
// What each op holds at the end of each step, which one grows, and the allocations that are never freed.
import { fetchHeld, fetchSteps } from "../../../../api.js";
import { csvText } from "../../../../base/csv.js";
import { el, setText } from "../../../../base/dom.js";
import { formatSize, groupDigits, plural } from "../../../../base/format.js";
import { requestFrame } from "../../../../base/frame.js";
import { createRowGrid } from "../../../../base/row_grid.js";
import { parseSort, sortAfterClick, sortRows, sortText } from "../../../../base/sorting.js";
import { matcher } from "../../../../base/text_match.js";
import {
  LEAK_COLUMNS,
  heldAllocations,
  heldPerStep,
  heldTotals,
  leakCsvColumns,
  leakRows,
} from "../data/leak_rows.js";
import { unitsOf } from "./cells.js";
import { createOpFilter, csvButton } from "./controls.js";
import { fillLeakCell } from "./leak_cells.js";
import { createLoader, createPanelFrame } from "./panel_frame.js";
import { createStepChart } from "./step_chart.js";

const USUAL_SORT = "slope";
const SIDEWAYS = ["ArrowLeft", "ArrowRight"];

export const leaksPanel = { id: "leaks", name: "Leaks", create };

function create(context) {
  const { state } = context;
  const verdict = el("p", { class: "panel-verdict", role: "status" });
  const totals = el("span", { class: "facts" });
  const filter = createOpFilter(state);
  const chart = createStepChart({ onStep: (index) => context.goTo({ at: lastMomentOf(reply.steps, index) }) });
  const grid = createGrid();
  const note = el("p", { class: "note" });
  const csv = csvButton(context, "leaks", () => csvText(leakCsvColumns(reply), sortRows(rows, LEAK_COLUMNS, sort())));
  const frame = createPanelFrame(
    "Leaks",
    [verdict],
    [chart.node, el("div", { class: "panel-controls" }, filter.node, totals, csv), grid.node, note],
  );
  const loader = createLoader(frame, context);
  const details = new AbortController();
  /** What stands below an open op: its allocations, or a word about them. @type {Map<string, any[]>} */
  const open = new Map();
  let reply = null;
  let rows = [];
  /** @type {any[]} */
  let lines = [];
  let units = {};
  let focused = null;

  const sort = () => parseSort(state.get().sort, LEAK_COLUMNS, USUAL_SORT);

  function createGrid() {
    return createRowGrid(
      {
        count: () => lines.length,
        id: (index) => lines[index].id,
        fill: (cell, column, index) =>
          fillLeakCell(cell, column, lines[index], { units, steps: reply.steps, unit: unit() }),
        decorate: decorateLine,
      },
      {
        label: "memory held at the end of each step, by op",
        className: "profile-grid leaks-grid",
        role: "treegrid",
        columns: LEAK_COLUMNS,
        onSort: (column) => state.set({ sort: sortText(sortAfterClick(sort(), column), LEAK_COLUMNS, USUAL_SORT) }),
        onOpen: openLine,
        onHover: showOp,
        onKey,
      },
    );
  }

  const unit = () => state.get().unit;

  function decorateLine(node, index) {
    const { kind, row, isOpen } = lines[index];
    node.setAttribute("aria-level", kind === "op" ? "1" : "2");
    if (kind === "op" && row.heldCount > 0) node.setAttribute("aria-expanded", String(isOpen));
    if (kind !== "op") node.classList.add("child");
    else if (row.isLeak) node.classList.add("failed");
  }

  function load() {
    loader.load("steps", "looking for leaks", (signal) => fetchSteps(context.where, signal), show);
  }

  function show(now) {
    reply = now;
    rows = leakRows(now);
    focused = rows[0] ?? null;
    verdict.classList.toggle("leaks", now.verdict.leaks);
    arrange();
  }

  function arrange() {
    if (!reply) return;
    units = unitsOf(LEAK_COLUMNS, rows, unit());
    const test = matcher(state.get().filter);
    const kept = test ? rows.filter((row) => test(row.op)) : rows;
    lines = sortRows(kept, LEAK_COLUMNS, sort()).flatMap(linesOf);
    setText(verdict, reply.verdict.text);
    setText(totals, totalsText(heldTotals(rows), unit()));
    setText(note, noteText(kept.length));
    grid.showSort(sort());
    grid.reset();
    drawChart();
  }

  function linesOf(row) {
    const below = open.get(row.id);
    const line = { kind: "op", id: row.id, row, isOpen: below !== undefined };
    return below ? [line, ...below] : [line];
  }

  function noteText(shown) {
    if (rows.length === 0) return "No allocation of this memory was seen, so none can leak.";
    if (reply.steps.step.length === 0) return "The profile tells no steps: growth per step is not known.";
    if (shown === 0) return `No op matches "${state.get().filter}".`;
    if (reply.growth.left_out > 0)
      return `${plural(reply.growth.left_out, "op")} that grew least and hold least are left out.`;
    return "";
  }

  function drawChart() {
    const all = heldPerStep(rows, reply.steps.step.length);
    chart.show({ steps: reply.steps, all, one: focused, unit: unit() });
  }

  function showOp(index) {
    const row = index === null ? null : lines[index]?.row;
    if (!row?.held || row === focused) return;
    focused = row;
    requestFrame(drawChart);
  }

  function openLine(index) {
    const line = lines[index];
    if (line.kind === "event") return context.goTo({ at: line.row.timePs, row: line.row.row });
    if (line.kind === "op" && line.row.heldCount > 0) toggle(line.row);
  }

  function toggle(row) {
    if (open.delete(row.id)) return arrange();
    open.set(row.id, [{ kind: "word", id: `word ${row.id}`, text: "reading …" }]);
    arrange();
    loadHeld(row);
  }

  async function loadHeld(row) {
    let below;
    try {
      below = heldLines(await fetchHeld(context.where, { op: row.op }, details.signal), row);
    } catch (error) {
      if (error.name === "AbortError") return;
      below = [{ kind: "word", id: `word ${row.id}`, text: error.message }];
    }
    if (!open.has(row.id)) return;
    open.set(row.id, below);
    arrange();
  }

  function onKey(event, index) {
    const { kind, row, isOpen } = lines[index];
    if (kind === "op" && row.heldCount > 0 && event.key === "ArrowRight")
      return isOpen ? index + 1 : (toggle(row), true);
    if (kind === "op" && isOpen && event.key === "ArrowLeft") return (toggle(row), true);
    if (kind !== "op" && event.key === "ArrowLeft")
      return lines.findLastIndex((one, i) => i < index && one.kind === "op");
    return SIDEWAYS.includes(event.key); // else it would move the chosen event
  }

  const stop = state.watch(["filter", "unit", "sort"], () => requestFrame(arrange));
  load();
  return {
    node: frame.node,
    update: () => (reply ? arrange() : load()),
    dispose() {
      stop();
      details.abort();
      loader.stop();
      grid.dispose();
      filter.dispose();
      chart.dispose();
      reply = null;
    },
  };
}

function heldLines(reply, row) {
  const events = heldAllocations(reply, row.op).map((one) => ({ kind: "event", id: one.id, row: one }));
  const left = reply.total - events.length;
  if (left > 0)
    events.push({ kind: "word", id: `word ${row.id}`, row: null, text: `and ${groupDigits(left)} more allocations` });
  return events;
}

function totalsText({ ops, bytes, count }, unit) {
  if (count === 0) return "Every allocation seen was freed again.";
  return (
    `Held at the end but not at the start: ${formatSize(bytes, unit)} in ${plural(count, "allocation")} ` +
    `of ${plural(ops, "op")}`
  );
}

/** The state at the end of a step is that just before the next one may begin. */
function lastMomentOf(steps, index) {
  return Math.max(steps.begin_ps[index], steps.end_ps[index] - 1);
}
