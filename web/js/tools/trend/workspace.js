// @ts-check
// One trend on the page: where it jumped, a bar for each session, the table. It stays while more becomes known.
import { el } from "../../base/dom.js";
import { requestFrame } from "../../base/frame.js";
import { viewName } from "../../base/view_name.js";
import { pointsOf } from "./data/points.js";
import { createTrendState } from "./trend_state.js";
import { createChart } from "./views/chart_view.js";
import { createPointsTable } from "./views/points_table.js";
import { createVerdict } from "./views/verdict.js";

export function createWorkspace(reply, params, go) {
  const state = createTrendState(params);
  const verdict = createVerdict(state, go);
  const chart = createChart(state, { open: verdict.open });
  const table = createPointsTable(state, reply);
  const main = el(
    "div",
    { class: "workspace trend" },
    el("div", { class: "figures-line" }, verdict.node),
    chart.node,
    table.node,
  );

  function update(now) {
    const points = pointsOf(now);
    for (const part of [verdict, chart, table]) part.show(now, points);
    main.toggleAttribute("aria-busy", !now.complete);
  }

  return {
    state,
    parts: { top: viewName(null, reply.subject, reply.memory_space_name ?? "", reply.subject), main },
    start() {
      update(reply);
      requestFrame(() => performance.mark("hbmview-painted"));
    },
    update,
    open: verdict.open,
    redraw: () => [chart, table].forEach((part) => part.redraw()),
    dispose() {
      [verdict, chart, table, state].forEach((part) => part.dispose());
    },
  };
}
