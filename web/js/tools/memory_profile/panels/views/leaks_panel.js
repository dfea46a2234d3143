// @ts-check
// What each op holds at the end of each step, which one grows, and the allocations that are never freed.
import { fetchHeld, fetchSteps } from "../../../../api.js";
import { el, setText } from "../../../../base/dom.js";
import { formatSize, groupDigits, plural } from "../../../../base/format.js";
import { requestFrame } from "../../../../base/frame.js";
import { createSortedTable } from "../../../../base/sorted_table.js";
import {
  LEAK_COLUMNS,
  heldPerStep,
  heldTotals,
  leakCsvColumns,
  leakRows,
} from "../data/leak_rows.js";
import { eventsOf } from "../../data/event_facts.js";
import { createOpFilter, matchingOps, noOpMatches, orderOf, panelSaves } from "./controls.js";
import { fillLeakCell } from "./leak_cells.js";
import { createPanel } from "./panel.js";
import { createStepChart } from "./step_chart.js";

export const leaksPanel = { id: "leaks", name: "Leaks", create };

function create(context) {
  const { state } = context;
  const verdict = el("p", { class: "panel-verdict", role: "status" });
  const totals = el("span", { class: "facts" });
  const filter = createOpFilter(state);
  const chart = createStepChart({ onStep: (index) => context.goTo({ at: lastMomentOf(stepsNow(), index) }) });
  const table = createSortedTable({
    label: "memory held at the end of each step, by op",
    className: "leaks-grid",
    columns: LEAK_COLUMNS,
    usual: "slope",
    order: orderOf(state),
    id: (line) => line.id,
    rowOf: (line) => line.row,
    fill: (cell, column, line, units) =>
      fillLeakCell(cell, column, line, { units, steps: stepsNow(), unit: state.get().unit }),
    decorate(node, { kind, row }) {
      node.classList.toggle("child", kind !== "op");
      node.classList.toggle("failed", kind === "op" && row.is_leak);
    },
    onOpen: openLine,
    onHover: showOp,
    onToggle: (line) => toggle(line.row),
  });
  const note = el("p", { class: "note" });
  const saves = panelSaves(context, "leaks", {
    table: { columns: () => leakCsvColumns(panel.reply()), rows: () => table.sorted(rows) },
  });
  const panel = createPanel(context, {
    title: "Leaks",
    head: [verdict],
    content: [chart.node, el("div", { class: "panel-controls" }, filter.node, totals, saves), table.node, note],
    label: "looking for leaks",
    fetch: (_, signal) => fetchSteps(context.where, signal),
    show,
    arrange,
    watches: ["filter", "unit", "sort"],
    stops: [() => details.abort(), table.dispose, filter.dispose, chart.dispose],
  });
  const stepsNow = () => panel.reply().steps;
  const details = new AbortController();
  /** What stands below an open op: its allocations, or a word about them. @type {Map<string, any[]>} */
  const open = new Map();
  let rows = [];
  let focused = null;

  function show(reply) {
    rows = leakRows(reply);
    focused = rows[0] ?? null;
    verdict.classList.toggle("leaks", reply.verdict.leaks);
    setText(verdict, reply.verdict.text);
  }

  function arrange() {
    const kept = matchingOps(state, rows);
    table.show(kept, state.get().unit, { all: rows, linesOf: (sorted) => sorted.flatMap(linesOf) });
    setText(totals, totalsText(heldTotals(rows), state.get().unit));
    setText(note, noteText(kept.length));
    drawChart();
  }

  function linesOf(row) {
    const below = open.get(row.id);
    const isOpen = row.held_at_end_count > 0 ? below !== undefined : null;
    const line = { kind: "op", id: row.id, depth: 0, isOpen, row };
    return below ? [line, ...below] : [line];
  }

  function noteText(shown) {
    if (rows.length === 0) return "No allocation of this memory was seen, so none can leak.";
    if (stepsNow().step.length === 0) return "The profile tells no steps: growth per step is not known.";
    if (shown === 0) return noOpMatches(state);
    const { left_out: left } = panel.reply().growth;
    return left > 0 ? `${plural(left, "op")} that grew least and hold least are left out.` : "";
  }

  function drawChart() {
    const steps = stepsNow();
    const all = heldPerStep(rows, steps.step.length);
    chart.show({ steps, all, one: focused, unit: state.get().unit });
  }

  function showOp(line) {
    const row = line?.row;
    if (!row?.held_bytes || row === focused) return;
    focused = row;
    requestFrame(drawChart);
  }

  function openLine(line) {
    if (line.kind === "event") return context.goTo({ at: line.row.time_ps, row: line.row.row });
    if (line.isOpen !== null) toggle(line.row);
  }

  function toggle(row) {
    if (open.delete(row.id)) return arrange();
    open.set(row.id, [wordLine(row, "reading …")]);
    arrange();
    loadHeld(row);
  }

  async function loadHeld(row) {
    let below;
    try {
      below = heldLines(await fetchHeld(context.where, { op: row.op }, details.signal), row);
    } catch (error) {
      if (error.name === "AbortError") return;
      below = [wordLine(row, error.message)];
    }
    if (!open.has(row.id)) return;
    open.set(row.id, below);
    arrange();
  }

  return panel;
}

function heldLines(reply, row) {
  const events = eventsOf(reply).map((one) => ({ ...belowOp("event"), id: `event ${one.row}`, row: one }));
  const left = reply.total - events.length;
  return left > 0 ? [...events, wordLine(row, `and ${groupDigits(left)} more allocations`)] : events;
}

const belowOp = (kind) => ({ kind, depth: 1, isOpen: null });
const wordLine = ({ id }, text) => ({ ...belowOp("word"), id: `word ${id}`, row: null, text });

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
