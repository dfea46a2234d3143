// @ts-check
/**
 * The points of the two curves worth drawing in a window. Few steps: all of them. Many: per pixel column the lowest and
 * the highest in the order in which they occur, so that no peak is lost, however far the view is zoomed out. Pure.
 *
 *     steps      | . . ^ . . v . | . . . . |      columns of `span / width` steps
 *     kept       |     ^     v   | ...
 */

const POINTS_PER_PIXEL = 2;

/** @returns {[Float64Array, Float64Array, Float64Array]} step, unpadded, padded; the last step is held to its end */
export function sampleCurve(padded, unpadded, window, width) {
  const first = Math.max(0, Math.floor(window.begin) - 1);
  const end = Math.min(padded.length, Math.ceil(window.end) + 1);
  const columns = Math.max(1, Math.round(width));
  if (end - first <= columns * POINTS_PER_PIXEL) return everyPoint(padded, unpadded, first, end);
  return extremePoints(padded, unpadded, first, end, columns);
}

function everyPoint(padded, unpadded, first, end) {
  const count = end - first;
  const out = [new Float64Array(count + 1), new Float64Array(count + 1), new Float64Array(count + 1)];
  for (let i = 0; i < count; i += 1) out[0][i] = first + i;
  out[1].set(unpadded.subarray(first, end));
  out[2].set(padded.subarray(first, end));
  return holdLast(out, end);
}

function extremePoints(padded, unpadded, first, end, columns) {
  const out = [
    new Float64Array(2 * columns + 1),
    new Float64Array(2 * columns + 1),
    new Float64Array(2 * columns + 1),
  ];
  const size = (end - first) / columns;
  for (let column = 0; column < columns; column += 1) {
    const from = Math.floor(first + column * size);
    const to = Math.max(from + 1, Math.floor(first + (column + 1) * size));
    const [early, late] = extremesOf(padded, from, to);
    const [earlyUnpadded, lateUnpadded] = extremesOf(unpadded, from, to);
    const at = 2 * column;
    out[0][at] = early;
    out[0][at + 1] = late;
    out[1][at] = unpadded[earlyUnpadded];
    out[1][at + 1] = unpadded[lateUnpadded];
    out[2][at] = padded[early];
    out[2][at + 1] = padded[late];
  }
  return holdLast(out, end);
}

/** Indexes of the lowest and the highest value, the earlier one first. */
function extremesOf(values, from, to) {
  let low = from;
  let high = from;
  let least = values[from];
  let most = least;
  for (let i = from + 1; i < to; i += 1) {
    const value = values[i];
    if (value < least) [low, least] = [i, value];
    else if (value > most) [high, most] = [i, value];
  }
  return low < high ? [low, high] : [high, low];
}

function holdLast(out, end) {
  const last = out[0].length - 1;
  out[0][last] = end;
  out[1][last] = out[1][last - 1];
  out[2][last] = out[2][last - 1];
  return out;
}
