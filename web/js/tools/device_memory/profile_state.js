// @ts-check
/**
 * What the charts of one device memory profile show together. What deserves a link lives in the page's params (kind,
 * device, measure, zoom, filter, sort, unit) and is decoded here; the frame under the mouse lives here alone.
 *
 *     params ──decode──> store ──watch──> charts
 *        ^                                  |
 *        └───────────── actions ────────────┘
 */
import { createStore } from "../../base/store.js";
import { unitMode } from "../../shell/unit_switch.js";
import { figuresFor } from "./data/model.js";
import { matchFunctions } from "./data/search.js";

const KEYS = ["kind", "device", "measure", "zoom", "filter", "sort", "unit"];

export function createProfileState(model, params) {
  const store = createStore({ hover: null, ...decode(params.get(), null) });
  const stop = params.watch(KEYS, (now, changed) => store.set(decode(now, changed)));

  function decode(now, changed) {
    const wants = (...keys) => changed === null || keys.some((key) => changed.includes(key));
    return {
      ...(wants("kind", "device", "measure") ? decodeFigures(now) : {}),
      ...(wants("zoom") ? { root: knownNode(now.zoom), hover: null } : {}),
      ...(wants("filter") ? { query: now.filter ?? "", flags: matchFunctions(model, now.filter) } : {}),
      ...(wants("sort") ? { sort: now.sort } : {}),
      ...(wants("unit") ? { unit: unitMode(now) } : {}),
    };
  }

  /** Where nothing has bytes (executables of some runtimes), widths are by count. */
  function decodeFigures(now) {
    const choice = { kind: now.kind ?? null, device: now.device ?? null };
    const figures = figuresFor(model, choice);
    const byCount = now.measure === "count" || figures.totalBytes[0] === 0;
    return { choice, figures, byCount, totals: byCount ? figures.totalCount : figures.totalBytes };
  }

  function knownNode(text) {
    const node = Number(text ?? 0);
    return Number.isInteger(node) && node >= 0 && node < model.count ? node : 0;
  }

  const actions = {
    hoverNode(node) {
      store.set({ hover: node });
    },
    zoomTo(node) {
      params.set({ zoom: node === 0 ? null : String(node) });
    },
    zoomOut() {
      const { root } = store.get();
      if (root > 0) actions.zoomTo(model.parent[root]);
    },
    search(text) {
      params.set({ filter: text === "" ? null : text });
    },
    sortBy(sort) {
      params.set({ sort });
    },
    choose(patch) {
      params.set(patch);
    },
    /** Esc: first the search, then the zoom. */
    letGo() {
      if (store.get().query !== "") actions.search("");
      else actions.zoomTo(0);
    },
  };
  return { model, actions, get: store.get, watch: store.watch, dispose: stop };
}
