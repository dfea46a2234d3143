// @ts-check
/**
 * One memory view on the page: its state and the charts that share it. It comes in two replies:
 *
 *     overview -> start     figures, composition, curve, bars at the peak, the largest buffer in detail
 *     columns  -> complete  the same charts over all buffers and steps, tabs (timeline, table, advice), search, keys
 */
import { createDetails } from "../../base/details.js";
import { button, el } from "../../base/dom.js";
import { requestFrame } from "../../base/frame.js";
import { createTabStrip } from "../../base/tab_strip.js";
import { otherToolLine } from "../../shell/other_tool.js";
import { buildFirstModel } from "./data/first_model.js";
import { buildModel } from "./data/model.js";
import { createGroupFeed } from "./group_feed.js";
import { createViewerState } from "./viewer_state.js";
import { createAdvice } from "./views/advice_view.js";
import { createBars } from "./views/bars_view.js";
import { createBlocks } from "./views/blocks_view.js";
import { createCard } from "./views/card_view.js";
import { createComposition } from "./views/composition_view.js";
import { createCurve } from "./views/curve_view.js";
import { createHeadline } from "./views/headline.js";
import { createFacts } from "./views/facts_view.js";
import { createSearch } from "./views/search_box.js";
import { createTable } from "./views/table_view.js";
import { createWho } from "./views/who_view.js";
import { buffersToCome, nothingHere, noSimulation } from "./views/empty_states.js";

const REST_MS = 70; // of the mouse, before the details of a buffer are asked for

/**
 * @param {{details: any, hlo: any, advice: any, groups: any, groupRows: any}} requests of a buffer, the program around
 *     it, of changes, of groups
 */
export function createWorkspace(view, params, requests, openTool) {
  const state = createViewerState(buildFirstModel(view), params);
  const details = createDetails(requests.details, { restMs: REST_MS });
  const search = createSearch(state);
  const headline = createHeadline(state, params, view);
  const composition = createComposition(state, view);
  const facts = createFacts(state, view, otherToolLine("memory_viewer", openTool));
  const advice = createAdvice(state, params, view, requests.advice);
  const groups = createGroupFeed(state, requests);
  const who = createWho(state, groups, params);
  const curve = view.program.steps > 0 ? createCurve(state) : { node: noSimulation(view) };
  const bars = createBars(state);
  const parts = [search, headline, composition, facts, advice, who, groups, curve, bars];
  const chartsNode = el("div", { class: "charts" });
  const dock = el("div", { class: "dock" });
  const title = "Compare with another program, of this session or another (c)";
  const compare = button("Compare", () => openTool("compare"), { class: "quiet small", id: "compare", title });
  const main = el(
    "div",
    { class: "workspace", "aria-busy": "true" },
    el(
      "div",
      { class: "figures-line" },
      headline.node,
      el("span", { class: "figures-tools" }, ...facts.openers, compare, search.node),
    ),
    composition.node,
    ...facts.bodies,
    who.node,
    chartsNode,
  );
  let charts = [];

  /** The curve and the bars stay from the first reply to the whole; what numbers rows is made anew. */
  function showCharts(begin) {
    const before = charts;
    const shown = chartsNow();
    const card = createCard(state, details, requests.hlo);
    charts = [...shown, card];
    before.filter((chart) => !charts.includes(chart)).forEach((chart) => chart.dispose?.());
    chartsNode.replaceChildren(...shown.map((chart) => chart.node));
    dock.replaceChildren(card.node);
    for (const chart of charts) begin(() => (before.includes(chart) ? chart.adopt : chart.start)?.());
  }

  /** It stays, with what it was told. */
  const adviceView = () => ({ ...advice, dispose() {} });

  /** A link to another step has its bars only with the whole. */
  function chartsNow() {
    const { model, blocks } = state;
    if (model.wholeCount === 0) return [{ node: nothingHere(view) }];
    if (!model.isWhole)
      return [curve, ...(params.get().step === null ? [bars] : []), { node: buffersToCome(model.wholeCount) }];
    const timeline = blocks.count > 0 ? [panelOf("timeline", "Timeline", () => createBlocks(state))] : [];
    const others = [panelOf("table", "Table", () => createTable(state)), panelOf("advice", "Advice", adviceView)];
    return [curve, bars, createTabStrip([...timeline, ...others], { params }, "about these buffers")];
  }

  /** @returns {Promise<void>} once it is painted */
  function start() {
    who.start();
    groups.start();
    showCharts((draw) => draw());
    return new Promise((resolve) =>
      requestFrame(() => {
        performance.mark("hbmview-painted");
        resolve();
      }),
    );
  }

  function complete(wholeView) {
    state.adopt(buildModel(wholeView));
    showCharts(requestFrame);
    main.removeAttribute("aria-busy");
  }

  /** The timeline's tab opens for it. */
  function fillScreen() {
    if (state.blocks.count === 0) return;
    params.set({ panel: null });
    state.actions.fillScreen(!state.get().fullScreen);
  }

  return {
    start,
    complete,
    fillScreen,
    parts: { top: headline.name, main, dock },
    tellDevice: headline.tellDevice,
    /** Of all buffers; null until they are here. */
    state: () => (state.model.isWhole ? state : null),
    focusSearch: () => search.focus(),
    redraw: () => [who, ...charts].forEach((chart) => chart.redraw?.()),
    dispose() {
      [...parts, ...charts].forEach((part) => part.dispose?.());
      details.stop();
      state.dispose();
    },
  };
}

/** A view as a panel of the tabs (base/tab_strip.js). @param {() => any} create */
function panelOf(id, name, create) {
  const mount = () => {
    const { redraw: update, ...view } = create();
    return { ...view, update };
  };
  return { id, name, create: mount };
}
