// @ts-check
// One memory view on the page: its state and the charts that share it.
import { el } from "../../base/dom.js";
import { requestFrame } from "../../base/frame.js";
import { otherToolLine } from "../../shell/other_tool.js";
import { buildModel } from "./data/model.js";
import { createBufferDetails } from "./data/buffer_details.js";
import { createViewerState } from "./viewer_state.js";
import { createAdvice } from "./views/advice_view.js";
import { createBars } from "./views/bars_view.js";
import { createBlocks } from "./views/blocks_view.js";
import { createCard } from "./views/card_view.js";
import { createComposition } from "./views/composition_view.js";
import { createCurve } from "./views/curve_view.js";
import { createHeadline } from "./views/headline.js";
import { ADVICE, createOverview } from "./views/overview_view.js";
import { createSearch } from "./views/search_box.js";
import { createTable } from "./views/table_view.js";
import { nothingHere, noSimulation } from "./views/empty_states.js";

/** @param {{details: any, advice: any}} requests of this module: of one buffer, and of what to change */
export function createWorkspace(view, params, requests, openTool) {
  const model = buildModel(view);
  const state = createViewerState(model, params);
  const search = createSearch(state);
  const headline = createHeadline(state, params, view);
  const card = createCard(state, createBufferDetails(requests.details));
  const composition = createComposition(state, view);
  const overview = createOverview(state, view);
  const advice = createAdvice(state, params, view, requests.advice);
  const charts = chartsOf(state, view);
  const parts = [search, headline, composition, overview, advice, ...charts, card];

  function start() {
    charts.forEach((chart) => chart.start?.());
    card.start();
    requestFrame(() => performance.mark("hbmview-painted"));
  }

  return {
    state,
    start,
    top: headline.name,
    main: el(
      "div",
      { class: "workspace" },
      el(
        "div",
        { class: "figures-line" },
        headline.node,
        el("span", { class: "figures-tools" }, advice.opener, search.node),
      ),
      el("div", { class: "summary" }, composition.node, overview.node, overview.below),
      otherToolLine("memory_viewer", openTool),
      ...withAdvice(charts, advice),
      el("p", { class: "note advice" }, ADVICE),
    ),
    dock: card.node,
    focusSearch: () => search.focus(),
    redraw: () => [...charts, card].forEach((chart) => chart.redraw?.()),
    dispose() {
      parts.forEach((part) => part.dispose?.());
      state.dispose();
    },
  };
}

/** After the charts, before the table of buffers, which is long. */
function withAdvice(charts, advice) {
  const nodes = charts.map((chart) => chart.node);
  return [...nodes.slice(0, -1), advice.node, ...nodes.slice(-1)];
}

function chartsOf(state, view) {
  const { model } = state;
  if (model.count === 0) return [{ node: nothingHere(view) }];
  const flow = model.steps > 0 ? [createCurve(state)] : [{ node: noSimulation(view) }];
  const places = state.blocks.count > 0 ? [createBlocks(state)] : [];
  return [...flow, createBars(state), ...places, createTable(state)];
}
