// @ts-check
/**
 * What the timeline and the panels of one memory show together. What deserves a link lives in the page's params (from,
 * to, y, at, overlay, panel, filter, sort, unit) and is decoded here; what follows the mouse lives here alone.
 *
 *     at      the chosen time in ps, null: the peak      row   the event it stands for, once it is known
 *     x, y    what the timeline shows (ps, bytes)        hover {time, row} under the mouse, or null
 */
import { createStore } from "../../base/store.js";
import { clampRange, panRange, range, revealRange, sameRange, zoomRange } from "../../base/range.js";
import { unitMode } from "../../shell/unit_switch.js";
import { parseRange, parseTime, rangeText } from "./data/view_text.js";

export const MIN_SPAN_PS = 1000;
const MIN_BYTES = 64;
const KEYS = ["from", "to", "y", "at", "filter", "sort", "unit"];

/**
 * @param {{window: {begin: number, end: number}, heights: {use: any, all: any, usual: any}, peak: {ps: number | null,
 *          row: number | null}}} scene
 */
export function createProfileState(scene, params) {
  const { window: full, peak } = scene;
  let { heights } = scene;
  let written = addressOf(params.get());
  const store = createStore({ hover: null, run: null, ...decode(params.get()) });
  const stop = params.watch(KEYS, (now) => {
    const patch = decode(now);
    if (sameWindow(now)) for (const key of ["x", "y", "from", "to"]) delete patch[key]; // as it was written here
    if (patch.at === store.get().at) delete patch.row;
    written = addressOf(now);
    store.set(patch);
  });

  /** @returns {any} */
  function decode(now) {
    const x = parseRange(now.from, now.to);
    const y = parseRange(...(now.y ?? "").split(","));
    const shown = x ? clampRange(x, full) : full;
    return {
      x: shown,
      ...edges(shown),
      y: y ? clampRange(y, heights.all) : heights.usual,
      at: parseTime(now.at),
      row: null,
      filter: now.filter ?? "",
      sort: now.sort,
      unit: unitMode(now),
    };
  }

  function addressOf({ from, to, y }) {
    return { from, to, y };
  }

  function sameWindow(now) {
    return now.from === written.from && now.to === written.to && now.y === written.y;
  }

  function edges(x) {
    return { from: Math.floor(x.begin), to: Math.ceil(x.end) };
  }

  function show(x, y = store.get().y) {
    const [from, to] = sameRange(x, full) ? [null, null] : rangeText(x);
    written = { from, to, y: sameRange(y, heights.usual) ? null : rangeText(y).join(",") };
    store.set({ x, y, ...edges(x) });
    params.set(written);
  }

  const yFull = () => heights.all;
  const actions = {
    hoverAt(hover) {
      store.set({ hover });
    },
    /** The chosen time; null is the peak. */
    choose(at, row = null) {
      const isPeak = at === null || (at === peak.ps && (row === null || row === peak.row));
      store.set({ at: isPeak ? null : at, row: isPeak ? null : row });
      params.set({ at: isPeak ? null : String(at) });
    },
    reveal(time) {
      const { x } = store.get();
      if (time < x.begin || time >= x.end) show(revealRange(x, time, time, full));
    },
    zoomX(anchor, factor) {
      show(zoomRange(store.get().x, anchor, factor, full, MIN_SPAN_PS));
    },
    zoomY(anchor, factor) {
      show(store.get().x, zoomRange(store.get().y, anchor, factor, yFull(), MIN_BYTES));
    },
    pan(dx, dy = 0) {
      show(panRange(store.get().x, dx, full), panRange(store.get().y, dy, yFull()));
    },
    showRange(x, y = null) {
      const wide = Math.max(MIN_SPAN_PS, x.end - x.begin);
      show(clampRange(range(x.begin, x.begin + wide), full), y ? clampRange(y, yFull()) : store.get().y);
    },
    showAll() {
      store.set({ run: null });
      show(full, heights.usual);
    },
    /** Up to the use, or up to the capacity: whichever is not shown. */
    switchHeight() {
      show(store.get().x, sameRange(store.get().y, heights.all) ? heights.use : heights.all);
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
      const wasUsual = sameRange(store.get().y, heights.usual);
      heights = now;
      show(store.get().x, wasUsual ? now.usual : clampRange(store.get().y, now.all));
    },
  };

  /** What panels may set; anything else they keep for themselves. */
  function set(patch) {
    const { at, row = null, from, to, ...others } = patch;
    if (at !== undefined) actions.choose(at, row);
    if (from !== undefined && to !== undefined)
      actions.showRange(from === null || to === null ? full : range(from, to));
    const kept = Object.entries(others).map(([key, value]) => [key, value === "" ? null : value]);
    params.set(Object.fromEntries(kept));
  }

  return {
    full,
    peak,
    actions,
    set,
    setRow: (row) => store.set({ row }),
    get: store.get,
    watch: store.watch,
    dispose: stop,
    heights: () => heights,
    isAll: () => sameRange(store.get().x, full) && sameRange(store.get().y, heights.usual),
    /** The time the marker stands at; null where no event told what is in use. */
    chosenTime: () => store.get().at ?? peak.ps,
    chosenRow: () => store.get().row ?? (store.get().at === null ? peak.row : null),
  };
}
