// @ts-check
// What the parts of a trend show together: the unit, the order of the table, the chosen point, which are in the
// address; and the point under the mouse, which lives here alone.
import { createLinkedStore } from "../../base/linked_store.js";
import { unitMode } from "../../shell/unit_switch.js";

export function createTrendState(params) {
  const store = createLinkedStore({
    params,
    initial: { hover: null },
    readers: {
      point: ({ point }) => ({ chosen: point }),
      sort: ({ sort }) => ({ sort }),
      unit: (now) => ({ unit: unitMode(now) }),
    },
    encode: ({ chosen, sort }) => ({ point: chosen, sort }),
  });
  const actions = {
    /** @param {number | null} hover index of a point */
    hoverAt: (hover) => store.set({ hover }),
    /** @param {string | null} chosen id of a point */
    choose: (chosen) => store.write({ chosen }),
    sortBy: (sort) => store.write({ sort }),
  };
  return { get: store.get, watch: store.watch, dispose: store.dispose, actions };
}
