// @ts-check
/**
 * A bar for each point, in equal parts of the plot's width; of very many, several share a pixel, and the highest is
 * what one sees. Pure.
 *
 *     |  ##      ##  |    x0, x1 of a bar in its part; no gap where parts are narrow
 *     | part 0 part 1|
 */

const GAP_SHARE = 0.24;
const GAP_FROM = 5; // pixels of a part
const WIDEST = 96;

/** From 0, the plot's left edge. @returns {{x0: number, x1: number, middle: number}} */
export function barAt(index, count, width) {
  const part = width / Math.max(1, count);
  const inside = part < GAP_FROM ? Math.max(1, part) : Math.min(WIDEST, part * (1 - GAP_SHARE));
  const middle = (index + 0.5) * part;
  return { x0: middle - inside / 2, x1: middle + inside / 2, middle };
}

/** The point whose part a place is in; null beside the plot. */
export function indexAt(x, count, width) {
  if (x < 0 || x >= width || count === 0) return null;
  return Math.min(count - 1, Math.floor((x / width) * count));
}

/** What a point's bar is made of, from below: {begin, end, line}; line -1 is the rest. */
export function partsOf({ held, rest }) {
  let end = 0;
  return [...held, rest]
    .map((bytes, i) => {
      const begin = end;
      end += Math.max(0, bytes);
      return { begin, end, line: i < held.length ? i : -1 };
    })
    .filter((part) => part.end > part.begin);
}

/** So many labels that they do not lie over each other: every n-th point. */
export function labelledPoints(count, width, labelWidth) {
  const every = Math.max(1, Math.ceil((count * labelWidth) / Math.max(1, width)));
  return Array.from({ length: Math.ceil(count / every) }, (_, i) => i * every);
}
