// @ts-check
/**
 * The curves of one memory for whatever window is in sight. The whole profile stays; of closer looks the latest few.
 * One request at a time, a little apart; while one is on its way only the last window asked for is remembered.
 */
import { fetchTimeline } from "../../api.js";
import { span } from "../../base/range.js";
import { buildCurve, isExactIn } from "./data/curve.js";

const PAUSE_MS = 40;
const KEPT = 8;
const PER_PIECE = 3;
const MOST_BUCKETS = 10000;
const CLOSE_ENOUGH = 1.02; // of the grain that was asked for

/** @param {{begin: number, end: number}} full */
export function createTimelineFeed(where, full, { onCurve, onError }) {
  const controller = new AbortController();
  /** @type {any[]} */
  let curves = [];
  let most = KEPT;
  let whole = null;
  let wanted = null;
  let failed = "";
  let running = false;

  /**
   * Curves that reach into the view, coarse to fine; asks for a finer one when there is none. Of a view of several
   * pieces, one after the other, and first of the whole, which fills what lies between them.
   * @param {{view: {begin: number, end: number}, columns: number}[]} pieces
   */
  function want(pieces) {
    most = Math.max(KEPT, PER_PIECE * pieces.length);
    const lacking = pieces.find(({ view, columns }) => !isFineEnough(view, columns));
    if (lacking) ask(pieces.length > 1 && !whole ? { view: full, columns: columnsOf(pieces) } : lacking);
    const [first, last] = [pieces[0].view, pieces[pieces.length - 1].view];
    const near = curves.filter((one) => one.to > first.begin && one.from < last.end && one !== whole);
    near.sort((a, b) => span2(b) - span2(a));
    return whole ? [whole, ...near.slice(-PER_PIECE * pieces.length)] : near;
  }

  function isFineEnough(view, columns) {
    const grain = (span(view) / Math.min(MOST_BUCKETS, columns)) * CLOSE_ENOUGH + 1;
    return curves.some((one) => isExactIn(one, view) || (covers(one, view) && one.grain <= grain));
  }

  function ask({ view, columns }) {
    wanted = { view, columns: Math.min(MOST_BUCKETS, Math.max(1, columns)) };
    if (!running) run();
  }

  async function run() {
    running = true;
    while (wanted && !controller.signal.aborted) {
      const { view, columns } = wanted;
      wanted = null;
      await load(view, columns);
      await pause();
    }
    running = false;
  }

  async function load(view, buckets) {
    const [from, to] = [Math.max(full.begin, Math.floor(view.begin)), Math.min(full.end, Math.ceil(view.end))];
    const query = { from_ps: from, to_ps: Math.max(to, from + 1), buckets };
    const key = JSON.stringify(query);
    if (key === failed) return;
    try {
      keep(buildCurve(await fetchTimeline(where, query, controller.signal)));
      failed = "";
      onCurve();
    } catch (error) {
      failed = key; // not again and again
      if (error.name !== "AbortError") onError(error);
    }
  }

  function keep(curve) {
    if (curve.from <= full.begin && curve.to >= full.end && (!whole || curve.grain <= whole.grain)) whole = curve;
    curves = [...curves.filter((one) => one !== whole), curve].slice(-most);
    if (whole && !curves.includes(whole)) curves.unshift(whole);
  }

  return { want, stop: () => controller.abort() };
}

const columnsOf = (pieces) => pieces.reduce((sum, piece) => sum + piece.columns, 0);

function covers(curve, view) {
  return curve.from <= Math.max(0, view.begin) && curve.to >= view.end;
}

/** Exact ones are drawn last. */
function span2(curve) {
  return curve.isExact ? -1 / (1 + curve.to - curve.from) : curve.grain;
}

function pause() {
  return new Promise((resolve) => {
    window.setTimeout(resolve, PAUSE_MS);
  });
}
