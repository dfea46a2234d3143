// @ts-check
// Which ops allocate most often and most bytes, what rounding costs, and how sizes and lifetimes are spread.
import { fetchOps } from "../../../../api.js";
import { el, setText } from "../../../../base/dom.js";
import { formatSize, plural } from "../../../../base/format.js";
import { createSortedTable } from "../../../../base/sorted_table.js";
import { formatDuration } from "../../../../base/time_text.js";
import { CHURN_COLUMNS, churnRows, histogramBars } from "../data/churn_rows.js";
import { createOpFilter, matchingOps, noOpMatches, orderOf, panelSaves } from "./controls.js";
import { createHistogram } from "./histogram.js";
import { createPanel } from "./panel.js";

export const churnPanel = { id: "churn", name: "Churn & sizes", create };

function create(context) {
  const { state } = context;
  const facts = el("span", { class: "facts" });
  const filter = createOpFilter(state);
  const sizes = createHistogram("Sizes", "allocated size of one allocation");
  const lifetimes = createHistogram("Lifetimes", "from an allocation to its free");
  const note = el("p", { class: "note", role: "status" });
  const table = createSortedTable({
    label: "allocations by op",
    className: "churn-grid",
    columns: CHURN_COLUMNS,
    usual: "allocated",
    order: orderOf(state),
    id: (row) => row.op,
  });
  const saves = panelSaves(context, "ops", {
    table: { columns: () => CHURN_COLUMNS, rows: () => table.sorted(rows) },
  });
  const panel = createPanel(context, {
    title: "Churn and sizes",
    content: [
      el("div", { class: "panel-controls" }, filter.node, facts, saves),
      table.node,
      note,
      el("div", { class: "histograms" }, sizes.node, lifetimes.node),
    ],
    label: "summing up the ops",
    fetch: (_, signal) => fetchOps(context.where, signal),
    show(reply) {
      rows = churnRows(reply);
    },
    arrange,
    watches: ["filter", "unit", "sort"],
    stops: [table.dispose, filter.dispose],
  });
  let rows = [];

  function arrange() {
    const { unit } = state.get();
    const kept = matchingOps(state, rows);
    table.show(kept, unit, { all: rows });
    setText(facts, factsText(panel.reply(), unit));
    setText(note, kept.length > 0 ? "" : rows.length > 0 ? noOpMatches(state) : "No allocation was seen.");
    showHistograms(panel.reply(), unit);
  }

  function showHistograms(reply, unit) {
    const { sizes: bySize, lifetimes: byLifetime, never_freed: never } = reply;
    sizes.show(histogramBars(bySize.from_bytes, bySize.to_bytes, bySize, 2), (bytes) => formatSize(bytes), unit);
    lifetimes.show(histogramBars(byLifetime.from_ps, byLifetime.to_ps, byLifetime, 10), formatDuration, unit);
    lifetimes.say(neverText(never, unit));
  }

  return panel;
}

function neverText({ count, bytes }, unit) {
  if (count === 0) return "All were freed while the profiler watched.";
  return `Not in the bars: ${plural(count, "allocation")} of ${formatSize(bytes, unit)} that were not freed.`;
}

function factsText(reply, unit) {
  const times = reply.over_allocation === null ? "" : `, ${reply.over_allocation.toFixed(2)} × what was asked for`;
  return (
    `${plural(reply.allocations, "allocation")}: ${formatSize(reply.requested_bytes, unit)} requested, ` +
    `${formatSize(reply.allocated_bytes, unit)} allocated${times}`
  );
}
