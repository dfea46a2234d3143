// @ts-check
// One comparison on the page: verdict, both curves, totals, what changed, and the buffers.
import { el } from "../../base/dom.js";
import { requestFrame } from "../../base/frame.js";
import { viewName } from "../../base/view_name.js";
import { createCompareState } from "./compare_state.js";
import { createBuffers } from "./views/buffers_view.js";
import { createCategories } from "./views/categories_view.js";
import { createCurves } from "./views/curves_view.js";
import { createForetold } from "./views/foretold_view.js";
import { createGroups } from "./views/groups_view.js";
import { createVerdict } from "./views/verdict.js";
import { createWays } from "./views/way_switch.js";

/**
 * @param {{reply: any, overviews: {a: any, b: any}}} told
 * @param {any} params
 * @param {(signal: AbortSignal) => Promise<any>} askAdvice for the program before
 */
export function createWorkspace({ reply, overviews }, params, askAdvice) {
  const state = createCompareState(params);
  const verdict = createVerdict(state, reply);
  const curves = createCurves(state, overviews);
  const categories = createCategories(state, reply);
  const ways = createWays(reply.groups.by, (by) => params.set({ by: by === "source" ? null : by }));
  const groups = createGroups(state, reply, ways);
  const buffers = createBuffers(state, reply);
  const isHbm = reply.memory_space === 0; // the advice is about that
  const foretold = isHbm ? [createForetold(state, reply, askAdvice)] : [];
  const charts = [curves, categories, groups, buffers, ...foretold];
  const main = el(
    "div",
    { class: "workspace compare" },
    el("div", { class: "figures-line" }, verdict.node),
    verdict.list,
    el("div", { class: "compare-totals" }, curves.node, categories.node),
    groups.node,
    buffers.node,
    ...foretold.map(({ node }) => node),
  );
  const { a, b } = reply;
  const title = `${a.session} / ${a.module} → ${b.session} / ${b.module}`;
  return {
    state,
    parts: { top: viewName(null, title, "before → after", title), main },
    start() {
      charts.forEach((chart) => chart.start());
      requestFrame(() => performance.mark("hbmview-painted"));
    },
    focusSearch: buffers.focusSearch,
    redraw: () => charts.forEach((chart) => chart.redraw()),
    dispose() {
      [verdict, ...charts, state].forEach((part) => part.dispose());
    },
  };
}
