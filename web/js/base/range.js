// @ts-check
/**
 * Half-open ranges on one axis, and the moves of a zoomable view. Pure; every function returns a new range.
 * @typedef {{begin: number, end: number}} Range
 */

/** @returns {Range} */
export function range(begin, end) {
  return { begin, end };
}

export function span(r) {
  return r.end - r.begin;
}

export function sameRange(a, b) {
  return a.begin === b.begin && a.end === b.end;
}

/** Slides (and if need be shrinks) `r` into `full`. */
export function clampRange(r, full) {
  const width = Math.min(span(r), span(full));
  const begin = Math.min(Math.max(r.begin, full.begin), full.end - width);
  return range(begin, begin + width);
}

/** Zooms about `anchor`, which stays where it is on the screen. A factor below 1 comes closer. */
export function zoomRange(r, anchor, factor, full, minSpan) {
  const width = Math.min(Math.max(span(r) * factor, Math.min(minSpan, span(full))), span(full));
  const share = span(r) > 0 ? (anchor - r.begin) / span(r) : 0.5;
  const begin = anchor - share * width;
  return clampRange(range(begin, begin + width), full);
}

export function panRange(r, delta, full) {
  return clampRange(range(r.begin + delta, r.end + delta), full);
}

/** The smallest move that shows [begin, end); a wider interval than the view gets the whole view. */
export function revealRange(r, begin, end, full) {
  if (begin >= r.begin && end <= r.end) return r;
  const width = Math.max(span(r), (end - begin) * 1.2);
  const middle = (begin + end) / 2;
  return clampRange(range(middle - width / 2, middle + width / 2), full);
}

/** About `count` round tick values inside the range; `base` 2 gives ticks that are round in binary units. */
export function ticks(r, count, step = niceStep(span(r) / Math.max(count, 1))) {
  const out = [];
  if (!(step > 0)) return out;
  for (let value = Math.ceil(r.begin / step) * step; value <= r.end; value += step) out.push(value);
  return out;
}

/** 1, 2 or 5 times a power of ten, at least `rough`. */
export function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((f) => f * power >= rough * (1 - 1e-9)) ?? 10;
  return factor * power;
}
