// @ts-check
/**
 * One row of rectangles, a buffer each, width to scale. Rectangles under a pixel are merged with their neighbours.
 *
 *     sizes       40        30      .2 .1 .3  ...     20
 *     edges     |0        |40     |70|  |  |        |..100
 *     groups    |  one    |  one  | many (merged)   | one  |
 *
 * `edges` keep every buffer, so a merged one can still be pointed at. Pure.
 */

export const NAME_MIN_WIDTH = 56;

/** The three orders of XProf's bar charts. The row that stands for many stays last. */
export function orderRows(model, rows, order) {
  const out = Uint32Array.from(rows);
  const buffers = model.othersRow === null ? out : out.subarray(0, -1);
  const bySize = (a, b) => model.size[b] - model.size[a] || a - b;
  const padding = (row) => (model.unpadded[row] < 0 ? 0 : Math.max(0, model.size[row] - model.unpadded[row]));
  if (order === "size") buffers.sort(bySize);
  if (order === "padding") buffers.sort((a, b) => padding(b) - padding(a) || bySize(a, b));
  return out;
}

export function layoutBar(model, rows, width) {
  const edges = edgesOf(model, rows, width);
  const groups = [];
  let merged = 0;
  for (let i = 0; i < rows.length;) {
    const end = edges[i + 1] - edges[i] >= 1 ? i + 1 : endOfRun(edges, i);
    groups.push({ first: i, end, x0: edges[i], x1: edges[end] });
    if (end - i > 1) merged += end - i;
    i = end;
  }
  return { rows, edges, groups, merged };
}

function edgesOf(model, rows, width) {
  const edges = new Float64Array(rows.length + 1);
  let total = 0;
  for (let i = 0; i < rows.length; i += 1) edges[i + 1] = total += model.size[rows[i]];
  if (total > 0) for (let i = 0; i <= rows.length; i += 1) edges[i] *= width / total;
  return edges;
}

function endOfRun(edges, first) {
  let end = first + 1;
  while (end + 1 < edges.length && edges[end + 1] - edges[end] < 1) end += 1;
  return end;
}

/**
 * Neighbours that one group holds, too narrow for a name each: the group is named across them.
 * @param {any} bar @param {import("../data/labels.js").GroupOfRow | null} groupOf
 * @returns {{key: string, x0: number, x1: number}[]}
 */
export function runsOf(bar, groupOf) {
  if (groupOf === null) return [];
  const runs = [];
  let last = null;
  for (const tile of bar.groups) {
    const isNarrow = tile.end - tile.first === 1 && tile.x1 - tile.x0 < NAME_MIN_WIDTH;
    const holder = isNarrow ? (groupOf.of[bar.rows[tile.first]] ?? -1) : -1;
    if (last !== null && last.holder === holder) last.x1 = tile.x1;
    else runs.push((last = { holder, x0: tile.x0, x1: tile.x1 }));
  }
  return runs
    .filter(({ holder, x0, x1 }) => holder >= 0 && x1 - x0 >= NAME_MIN_WIDTH)
    .map(({ holder, x0, x1 }) => ({ key: groupOf.keys[holder], x0, x1 }));
}

/** Index (into bar.rows) of the buffer at x, or -1. */
export function barIndexAt(bar, x) {
  const { edges, rows } = bar;
  if (rows.length === 0 || x < 0 || x >= edges[rows.length]) return -1;
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= x) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Where a row of the model stands in this bar, or -1. */
export function barIndexOf(bar, row) {
  return bar.rows.indexOf(row);
}

/** The category that holds most bytes of a group. */
export function dominantCategory(model, bar, group) {
  const bytes = new Map();
  for (let i = group.first; i < group.end; i += 1) {
    const category = model.category[bar.rows[i]];
    bytes.set(category, (bytes.get(category) ?? 0) + model.size[bar.rows[i]]);
  }
  return [...bytes].reduce((best, one) => (one[1] > best[1] ? one : best))[0];
}
