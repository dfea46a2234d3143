// @ts-check
/**
 * What the timeline and the panels of one memory show together. What deserves a link is in the address (from, to, y,
 * at, filter, sort); what follows the mouse lives here alone.
 *
 *     at      the chosen time in ps, null: the peak      row   the event it stands for, once it is known
 *     x, y    what the timeline shows (ps, bytes)        hover {time, row} under the mouse, or null
 */
import { createLinkedStore } from "../../base/linked_store.js";
import { clampRange, range, sameRange } from "../../base/range.js";
import { zoomActions } from "../../base/zoom.js";
import { unitMode } from "../../shell/unit_switch.js";
import { parseRange, parseTime, rangeText } from "./data/view_text.js";

export const MIN_SPAN_PS = 1000;
const MIN_BYTES = 64;

/**
 * @param {{window: {begin: number, end: number}, heights: {use: any, all: any, usual: any}, peak: {ps: number | null,
 *          row: number | null}}} scene
 */
export function createProfileState(scene, params) {
  const { window: full, peak } = scene;
  let { heights } = scene;
  const store = createLinkedStore({
    params,
    initial: { hover: null, run: null },
    readers: {
      from: windowIn,
      to: windowIn,
      y: heightIn,
      at: ({ at }) => ({ at: parseTime(at), row: null }),
      filter: ({ filter }) => ({ filter: filter ?? "" }),
      sort: ({ sort }) => ({ sort }),
      unit: (now) => ({ unit: unitMode(now) }),
    },
    encode({ x, y, at, filter, sort }) {
      const [from, to] = sameRange(x, full) ? [null, null] : rangeText(x);
      const height = sameRange(y, heights.usual) ? null : rangeText(y).join(",");
      return { from, to, y: height, at: at === null ? null : String(at), filter: filter || null, sort };
    },
  });

  function windowIn({ from, to }) {
    const wanted = parseRange(from, to);
    return withEdges(wanted ? clampRange(wanted, full) : full);
  }

  function heightIn({ y }) {
    const wanted = parseRange(...(y ?? "").split(","));
    return { y: wanted ? clampRange(wanted, heights.all) : heights.usual };
  }

  /** `from` and `to` are the window as panels ask for it. */
  function withEdges(x) {
    return { x, from: Math.floor(x.begin), to: Math.ceil(x.end) };
  }

  function show({ x, y = store.get().y }) {
    store.write({ y, ...withEdges(x) });
  }

  const actions = {
    ...zoomActions({
      view: store.get,
      full: () => ({ x: full, y: heights.all }),
      least: { x: MIN_SPAN_PS, y: MIN_BYTES },
      show,
    }),
    hoverAt(hover) {
      store.set({ hover });
    },
    /** The chosen time; null is the peak. */
    choose(at, row = null) {
      const isPeak = at === null || (at === peak.ps && (row === null || row === peak.row));
      store.write({ at: isPeak ? null : at, row: isPeak ? null : row });
    },
    showAll() {
      store.set({ run: null });
      show({ x: full, y: heights.usual });
    },
    search(filter) {
      store.write({ filter });
    },
    sortBy(sort) {
      store.write({ sort });
    },
    /** Up to the use, or up to the capacity: whichever is not shown. */
    switchHeight() {
      const { x, y } = store.get();
      show({ x, y: sameRange(y, heights.all) ? heights.use : heights.all });
    },
    /** One run of a module, or a step; the same again shows everything, as in XProf. */
    showBand(key, begin, end) {
      if (store.get().run === key) return actions.showAll();
      const margin = (end - begin) * 0.02;
      actions.showRange(range(begin - margin, end + margin));
      store.set({ run: key });
    },
    /** Other memories joined or left the picture. */
    setHeights(now) {
      const { x, y } = store.get();
      const wasUsual = sameRange(y, heights.usual);
      heights = now;
      show({ x, y: wasUsual ? now.usual : clampRange(y, now.all) });
    },
  };

  return {
    full,
    peak,
    actions,
    setRow: (row) => store.set({ row }),
    get: store.get,
    watch: store.watch,
    dispose: store.dispose,
    heights: () => heights,
    isAll: () => sameRange(store.get().x, full) && sameRange(store.get().y, heights.usual),
    /** The time the marker stands at; null where no event told what is in use. */
    chosenTime: () => store.get().at ?? peak.ps,
    chosenRow: () => store.get().row ?? (store.get().at === null ? peak.row : null),
  };
}
