// @ts-check
/**
 * What the charts of one device memory profile show together. What deserves a link is in the address: zoom, filter and
 * sort are written here, kind, device, measure and unit by others. The frame under the mouse lives here alone.
 */
import { createLinkedStore } from "../../base/linked_store.js";
import { unitMode } from "../../shell/unit_switch.js";
import { figuresFor } from "./data/model.js";
import { matchFunctions } from "./data/search.js";

export function createProfileState(model, params) {
  const store = createLinkedStore({
    params,
    initial: { hover: null },
    readers: {
      kind: decodeFigures,
      device: decodeFigures,
      measure: decodeFigures,
      zoom: ({ zoom }) => ({ root: knownNode(zoom), hover: null }),
      filter: ({ filter }) => searchFor(filter ?? ""),
      sort: ({ sort }) => ({ sort }),
      unit: (now) => ({ unit: unitMode(now) }),
    },
    encode: ({ root, query, sort }) => ({
      zoom: root === 0 ? null : String(root),
      filter: query === "" ? null : query,
      sort,
    }),
  });

  function searchFor(query) {
    return { query, flags: matchFunctions(model, query) };
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
      store.write({ root: node, hover: null });
    },
    zoomOut() {
      const { root } = store.get();
      if (root > 0) actions.zoomTo(model.parent[root]);
    },
    search(text) {
      store.write(searchFor(text));
    },
    sortBy(sort) {
      store.write({ sort });
    },
    /** Esc: first the search, then the zoom. */
    letGo() {
      if (store.get().query !== "") actions.search("");
      else actions.zoomTo(0);
    },
  };
  return { model, actions, get: store.get, watch: store.watch, dispose: store.dispose };
}
