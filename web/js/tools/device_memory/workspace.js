// @ts-check
// One device memory profile on the page: its state and the charts that share it.
import { el } from "../../base/dom.js";
import { createFindingList } from "../../base/finding_list.js";
import { requestFrame } from "../../base/frame.js";
import { createSearchBox } from "../../base/search_box.js";
import { findingRows } from "./data/findings.js";
import { buildModel } from "./data/model.js";
import { createProfileState } from "./profile_state.js";
import { createAcrossSection } from "./views/across_section.js";
import { createHeadline } from "./views/headline.js";
import { createIcicle } from "./views/icicle_view.js";
import { createTopTable } from "./views/top_table.js";
import { nothingHeld } from "./views/empty_states.js";

/** @param {{hasSeveral: boolean, onOpen: (file: string, device: string) => void}} across other files and devices */
export function createWorkspace(reply, params, across) {
  const state = createProfileState(buildModel(reply), params);
  const headline = createHeadline(state, params, reply);
  const search = createSearchBox(state, "query", {
    id: "search",
    placeholder: "Search function or file  /",
    label: "search frames by function or file",
    title: "Function or file; text or a regular expression",
  });
  const findings = createFindingList(({ node }) => state.actions.zoomTo(node));
  const showFindings = () => findings.show(findingRows(state.model, state.get()));
  const stop = state.watch(["figures", "byCount", "unit"], showFindings);
  showFindings();
  const isEmpty = reply.count <= 0 && reply.bytes <= 0;
  /** @type {any[]} */
  const charts = isEmpty ? [] : [createIcicle(state), createTopTable(state)];
  if (across.hasSeveral) charts.push(createAcrossSection(reply, params, across.onOpen));
  const main = el(
    "div",
    { class: "workspace device-memory" },
    el("div", { class: "figures-line" }, headline.node, el("span", { class: "search" }, search.node)),
    findings.node,
    ...(isEmpty ? [nothingHeld(reply)] : []),
    ...charts.map((chart) => chart.node),
  );
  return {
    state,
    parts: { top: headline.name, main },
    start() {
      charts.forEach((chart) => chart.start());
      requestFrame(() => performance.mark("hbmview-painted"));
    },
    focusSearch: search.focus,
    redraw: () => charts.forEach((chart) => chart.redraw()),
    nextFinding: findings.next,
    dispose() {
      stop();
      [headline, search, ...charts].forEach((part) => part.dispose());
      state.dispose();
    },
  };
}
