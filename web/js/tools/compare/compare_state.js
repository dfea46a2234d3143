// @ts-check
/**
 * What the parts of a comparison show together: the unit, the order of the buffers, the search, the pinned group; and
 * the place under the mouse, which lives here alone. How it is grouped is asked of the server, so tool.js watches it.
 */
import { createLinkedStore } from "../../base/linked_store.js";
import { unitMode } from "../../shell/unit_switch.js";

export function createCompareState(params) {
  const store = createLinkedStore({
    params,
    initial: { hover: null, pinned: null },
    readers: {
      filter: ({ filter }) => ({ query: filter ?? "" }),
      sort: ({ sort }) => ({ sort }),
      unit: (now) => ({ unit: unitMode(now) }),
    },
    encode: ({ query, sort }) => ({ filter: query === "" ? null : query, sort }),
  });

  const actions = {
    hoverAt: (hover) => store.set({ hover }),
    search: (query) => store.write({ query }),
    sortBy: (sort) => store.write({ sort }),
    /** The one that is pinned already is let go. @param {any} group of data/changes.js */
    pin: (group) => store.set({ pinned: group && group.id === store.get().pinned?.id ? null : group }),
    /** Esc: first the group, then the search. */
    letGo() {
      if (store.get().pinned) actions.pin(null);
      else actions.search("");
    },
  };
  return { get: store.get, watch: store.watch, dispose: store.dispose, actions };
}
