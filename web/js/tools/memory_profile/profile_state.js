// @ts-check
/**
 * What the timeline and the panels of one memory show together. What deserves a link is in the address (from, to, y,
 * at, filter, sort); what follows the mouse lives here alone.
 *
 *     at      the chosen time in ps, null: the peak      row   the event it stands for, once it is known
 *     x, y    what the timeline shows (bytes; x in units of the axis, which may leave idle time out: time_axis.js)
 *     from, to    the same window in ps                  hover {time, row} under the mouse, or null
 */
import { createLinkedStore } from "../../base/linked_store.js";
import { clampRange, range, sameRange } from "../../base/range.js";
import { zoomActions } from "../../base/zoom.js";
import { unitMode } from "../../shell/unit_switch.js";
import { parseRange, parseTime, rangeText } from "./data/view_text.js";
import { brokenAxis, inTime, isMostlyIdle, onAxis, wholeAxis } from "./layout/time_axis.js";

export const MIN_SPAN_PS = 1000;
const MIN_BYTES = 64;

/**
 * @typedef {import("../../base/range.js").Range} Range
 * @param {{window: Range, silences: Range[], showsIdle: boolean, heights: {use: Range, all: Range, usual: Range},
 *          peak: {ps: number | null, row: number | null}}} scene `silences`: what the axis may leave out; `showsIdle`:
 *     not unless it is asked to
 */
export function createProfileState(scene, params) {
  const { window: full, peak, showsIdle } = scene;
  const whole = wholeAxis(full);
  let { heights } = scene;
  let broken = brokenAxis(full, scene.silences);
  let usual = usualAxis(scene.silences);
  const store = createLinkedStore({
    params,
    initial: { hover: null, run: null },
    readers: {
      idle: windowIn,
      from: windowIn,
      to: windowIn,
      y: heightIn,
      at: ({ at }) => ({ at: parseTime(at), row: null }),
      filter: ({ filter }) => ({ filter: filter ?? "" }),
      sort: ({ sort }) => ({ sort }),
      unit: (now) => ({ unit: unitMode(now) }),
    },
    encode({ axis, x, y, at, filter, sort, ...edges }) {
      const [from, to] = sameRange(x, axis.full) ? [null, null] : rangeText(range(edges.from, edges.to));
      const height = sameRange(y, heights.usual) ? null : rangeText(y).join(",");
      const idle = axis === usual ? null : axis === whole ? "whole" : "cut";
      return { idle, from, to, y: height, at: at === null ? null : String(at), filter: filter || null, sort };
    },
  });

  function usualAxis(silences) {
    return !showsIdle && isMostlyIdle(full, silences) ? broken : whole;
  }

  function windowIn({ idle, from, to }) {
    const axis = idle === "cut" ? broken : idle === "whole" ? whole : usual;
    const wanted = parseRange(from, to);
    return withEdges(axis, wanted ? onAxis(axis, clampRange(wanted, full)) : axis.full);
  }

  function heightIn({ y }) {
    const wanted = parseRange(...(y ?? "").split(","));
    return { y: wanted ? clampRange(wanted, heights.all) : heights.usual };
  }

  /** `from` and `to` are the window as panels ask for it. */
  function withEdges(axis, x) {
    const { begin, end } = inTime(axis, x);
    return { axis, x, from: Math.floor(begin), to: Math.ceil(end) };
  }

  /** The same window of time on another axis. */
  function moveTo(axis) {
    const { axis: before, x } = store.get();
    if (axis === before) return;
    store.write(withEdges(axis, sameRange(x, before.full) ? axis.full : onAxis(axis, inTime(before, x))));
  }

  function show({ x, y = store.get().y }) {
    store.write({ y, ...withEdges(store.get().axis, x) });
  }

  const actions = {
    ...zoomActions({
      view: store.get,
      full: () => ({ x: store.get().axis.full, y: heights.all }),
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
      show({ x: store.get().axis.full, y: heights.usual });
    },
    /** Ranges and moments of time, wherever they stand on the axis. */
    showTimes(times) {
      actions.showRange(onAxis(store.get().axis, times));
    },
    revealTime(time) {
      actions.revealAt(onAxis(store.get().axis, range(time, time)));
    },
    switchIdle() {
      if (broken.breaks.length > 0) moveTo(store.get().axis === whole ? broken : whole);
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
      const band = onAxis(store.get().axis, range(begin, end));
      const margin = (band.end - band.begin) * 0.02;
      actions.showRange(range(band.begin - margin, band.end + margin));
      store.set({ run: key });
    },
    /** Other memories joined or left the picture. */
    setScene({ heights: now, silences }) {
      const { axis, y } = store.get();
      const wasUsual = sameRange(y, heights.usual);
      heights = now;
      broken = brokenAxis(full, silences);
      const wasAsked = axis !== usual;
      usual = usualAxis(silences);
      moveTo(!wasAsked ? usual : axis === whole ? whole : broken);
      show({ x: store.get().x, y: wasUsual ? now.usual : clampRange(y, now.all) });
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
    /** Whether there is idle time to leave out, and whether it is. */
    idle: () => ({ canLeaveOut: broken.breaks.length > 0, isLeftOut: store.get().axis !== whole }),
    isAll: () => sameRange(store.get().x, store.get().axis.full) && sameRange(store.get().y, heights.usual),
    /** The time the marker stands at; null where no event told what is in use. */
    chosenTime: () => store.get().at ?? peak.ps,
    chosenRow: () => store.get().row ?? (store.get().at === null ? peak.row : null),
  };
}
