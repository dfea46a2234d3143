// @ts-check
// A bar for each memory, as wide as there is room for: of more memories than bars the highest of some neighbours. Pure.

const GAP_FROM = 5; // pixels that a bar needs to be set apart
const LEAST_WIDTH = 2;
const MOST_WIDTH = 48;
const LABEL_GAP = 16;

/**
 * @param {{peak_bytes: number}[]} rows @param {number} width pixels
 * @returns {{x: number, width: number, first: number, end: number, at: number}[]} bars of rows [first, end), of which
 *     the one `at` is drawn
 */
export function layBars(rows, width) {
  const count = Math.min(rows.length, Math.max(1, Math.floor(width / LEAST_WIDTH)));
  const room = Math.min(MOST_WIDTH, width / Math.max(1, count));
  const gap = room >= GAP_FROM ? 1 : 0;
  return Array.from({ length: count }, (_, i) => {
    const first = Math.floor((i * rows.length) / count);
    const end = Math.floor(((i + 1) * rows.length) / count);
    return { x: i * room, width: room - gap, first, end, at: highest(rows, first, end) };
  });
}

function highest(rows, first, end) {
  let best = first;
  for (let i = first + 1; i < end; i += 1) if (rows[i].peak_bytes > rows[best].peak_bytes) best = i;
  return best;
}

/**
 * Where the last bar's label ends: below that bar, further right where the first one's label would not end before it.
 * @param {{x: number, width: number}[]} bars @param {number} first @param {number} last widths of both labels
 */
export function lastLabelEnd(bars, first, last) {
  const { x, width } = bars[bars.length - 1];
  return Math.max(x + width, first + LABEL_GAP + last);
}

/** The bar under the mouse, or null. */
export function barAt(bars, x) {
  if (bars.length === 0 || x < 0) return null;
  const room = bars.length > 1 ? bars[1].x - bars[0].x : bars[0].width + 1;
  return bars[Math.floor(x / room)] ?? null;
}

export const barOf = (bars, row) => bars.find((bar) => row >= bar.first && row < bar.end) ?? null;
