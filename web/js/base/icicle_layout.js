// @ts-check
/**
 * The icicle: a tree below one node as rectangles, the node itself on top at full width. Pure.
 *
 *     depth 0   [ main                                   ]
 *           1   [ train                  ][ eval         ]     width to scale; what a frame holds itself stays bare
 *           2   [ ones         ][ jit ]    [ ones   ]
 *
 * Frames narrower than MIN_WIDTH are merged with their neighbours into one sliver (node -1), and counted.
 * The tree is its nodes in preorder: `parent[i]` < i, `depth[i]`, and `end[i]`, where the subtree of i ends.
 * @typedef {{count: number, parent: ArrayLike<number>, depth: ArrayLike<number>, end: ArrayLike<number>}} Tree
 * @typedef {{node: number, row: number, x0: number, x1: number}} Rect
 */
const MIN_WIDTH = 1;

/** @returns {{rects: Rect[], rows: number, merged: number}} */
export function layoutIcicle(model, totals, root, width) {
  const scale = totals[root] > 0 ? width / totals[root] : 0;
  const cursor = new Float64Array(model.end[root] - root); // where the next child of a node begins
  const slivers = new Map(); // parent -> its last sliver
  const layout = { rects: [{ node: root, row: 0, x0: 0, x1: width }], rows: 1, merged: 0 };
  for (let node = root + 1; node < model.end[root] && scale > 0; ) {
    const parent = model.parent[node];
    const x0 = cursor[parent - root];
    const x1 = x0 + totals[node] * scale;
    cursor[parent - root] = x1;
    cursor[node - root] = x0;
    if (x1 - x0 >= MIN_WIDTH) {
      const row = model.depth[node] - model.depth[root];
      layout.rects.push({ node, row, x0, x1 });
      layout.rows = Math.max(layout.rows, row + 1);
      node += 1;
    } else {
      if (totals[node] > 0) addSliver(layout, slivers, model, { root, node, parent, x0, x1 });
      node = model.end[node];
    }
  }
  return layout;
}

function addSliver(layout, slivers, model, { root, node, parent, x0, x1 }) {
  layout.merged += 1;
  const before = slivers.get(parent);
  if (before && before.x1 === x0) {
    before.x1 = x1;
    return;
  }
  const sliver = { node: -1, row: model.depth[node] - model.depth[root], x0, x1 };
  layout.rows = Math.max(layout.rows, sliver.row + 1);
  layout.rects.push(sliver);
  slivers.set(parent, sliver);
}

/** The node under a point; -1 for none. */
export function nodeAt(layout, rowHeight, x, y) {
  const row = Math.floor(y / rowHeight);
  const rect = layout.rects.find((one) => one.row === row && x >= one.x0 && x < one.x1);
  return rect ? rect.node : -1;
}

export function rectOf(layout, node) {
  return layout.rects.find((one) => one.node === node) ?? null;
}

/**
 * Where an arrow key leads from a frame: up to the caller (not above the one on top), down to the largest callee, left
 * and right along the row. Stays when there is nothing there.
 */
export function neighbour(layout, model, node, key) {
  const at = rectOf(layout, node);
  if (!at) return layout.rects[0].node;
  if (key === "ArrowUp") return at.row === 0 ? node : model.parent[node];
  const inRow = (row) => layout.rects.filter((one) => one.row === row && one.node >= 0).sort((a, b) => a.x0 - b.x0);
  if (key === "ArrowDown") {
    const below = inRow(at.row + 1).filter((one) => model.parent[one.node] === node);
    return below.reduce((best, one) => (best && best.x1 - best.x0 >= one.x1 - one.x0 ? best : one), null)?.node ?? node;
  }
  const row = inRow(at.row);
  const place = row.indexOf(at) + (key === "ArrowRight" ? 1 : -1);
  return row[Math.max(0, Math.min(row.length - 1, place))].node;
}
