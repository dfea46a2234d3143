// @ts-check
/**
 * Which blocks lie in a stretch of program order, without looking at all of them: under the mouse, at the cursor's
 * step, in the window. The blocks by where they begin, some in a bucket, and over the buckets a tree of how far they
 * reach:
 *
 *     reach                    9                      of all below it
 *                   9                   8
 *     buckets  [0,9) [1,3)  [2,4)  |  [5,7) [6,8) [7,8)
 *
 * A query leaves out what begins behind its end and the branches that end before its begin; so it costs what it finds.
 * Pure.
 */

const BUCKET = 32;

/** @param {import("./blocks.js").Blocks} blocks */
export function buildBlockIndex(blocks) {
  const { count } = blocks;
  const order = byStart(blocks);
  const begins = Float64Array.from(order, (i) => blocks.x0[i]);
  const ends = Float64Array.from(order, (i) => blocks.x1[i]);
  const leaves = 2 ** Math.ceil(Math.log2(Math.max(1, count / BUCKET)));
  const reach = reachOf(ends, leaves);
  const found = new Uint32Array(count);

  /**
   * The blocks with x0 <= `end` and x1 >= `begin`, in no order that means something; null when they are more than
   * `most`. What is given holds until the next question.
   */
  function within(begin, end, most = count) {
    const last = countUpTo(begins, end);
    let length = 0;

    function visit(node, first, width) {
      if (length > most || first * BUCKET >= last || reach[node] < begin) return;
      if (width > 1) {
        visit(2 * node, first, width / 2);
        visit(2 * node + 1, first + width / 2, width / 2);
      } else look(first * BUCKET, Math.min(last, (first + 1) * BUCKET));
    }

    function look(from, to) {
      for (let at = from; at < to; at += 1)
        if (ends[at] >= begin) {
          if (length < most) found[length] = order[at];
          length += 1;
        }
    }

    visit(1, 0, leaves);
    return length > most ? null : found.subarray(0, length);
  }

  return { within };
}

/** Of a node at 2n and 2n + 1 stand the two below it, from `leaves` on the buckets. */
function reachOf(ends, leaves) {
  const reach = new Float64Array(2 * leaves).fill(-Infinity);
  for (let at = 0; at < ends.length; at += 1) {
    const leaf = leaves + Math.floor(at / BUCKET);
    reach[leaf] = Math.max(reach[leaf], ends[at]);
  }
  for (let node = leaves - 1; node >= 1; node -= 1) reach[node] = Math.max(reach[2 * node], reach[2 * node + 1]);
  return reach;
}

/** How many of ascending values are at most `limit`. */
function countUpTo(values, limit) {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows are in program order, those of the whole program first: blocks by their rows are blocks by their begin. */
function byStart({ count, row, x0, indexOfRow }) {
  const order = new Uint32Array(count);
  let length = 0;
  for (let at = 0; at < indexOfRow.length; at += 1) if (indexOfRow[at] >= 0) order[length++] = indexOfRow[at];
  for (let i = 1; i < count; i += 1)
    if (x0[order[i]] < x0[order[i - 1]]) return order.sort((a, b) => x0[a] - x0[b] || row[a] - row[b]);
  return order;
}
