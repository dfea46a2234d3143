// @ts-check
/**
 * Which blocks lie in a stretch of program order, without looking at all of them: under the mouse, at the cursor's
 * step, in the window. The blocks by where they begin, and over them a tree of how far they reach:
 *
 *     reach                 9                  of all below it
 *                 9                   8
 *            9         4         7         8
 *     order  [0,9) [1,3)  [2,4) [3,4)  [5,7) [6,7)  [7,8)
 *
 * A query leaves out what begins behind its end and the branches that end before its begin; so it costs what it finds.
 * Pure.
 */

/** @param {import("./blocks.js").Blocks} blocks */
export function buildBlockIndex(blocks) {
  const { count, x0, x1 } = blocks;
  const order = byStart(blocks);
  const leaves = 2 ** Math.ceil(Math.log2(Math.max(1, count)));
  const reach = new Float64Array(2 * leaves).fill(-Infinity);
  for (let i = 0; i < count; i += 1) reach[leaves + i] = x1[order[i]];
  for (let node = leaves - 1; node >= 1; node -= 1) reach[node] = Math.max(reach[2 * node], reach[2 * node + 1]);
  const found = new Uint32Array(count);

  /**
   * The blocks with x0 <= `end` and x1 >= `begin`, in no order that means something; null when they are more than
   * `most`. What is given holds until the next question.
   */
  function within(begin, end, most = count) {
    let length = 0;

    function visit(node, first, width) {
      if (length > most || first >= count || reach[node] < begin || x0[order[first]] > end) return;
      if (width === 1) {
        if (length < most) found[length] = order[first];
        length += 1;
        return;
      }
      visit(2 * node, first, width / 2);
      visit(2 * node + 1, first + width / 2, width / 2);
    }

    visit(1, 0, leaves);
    return length > most ? null : found.subarray(0, length);
  }

  return { within };
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
