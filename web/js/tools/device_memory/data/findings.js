// @ts-check
/**
 * Which functions of the reader hold the most. An array is held by the deepest of the reader's own frames on its stack:
 * those of libraries only did what they were told. Pure.
 */
import { formatPercent, formatSize, plural } from "../../../base/format.js";
import { functionName, isLibrary } from "./model.js";

const MOST = 3;
const LEAST_SHARE = 0.1;

/**
 * @param {any} model @param {{figures: any, byCount: boolean, choice: any, unit: string}} shown of the state
 * @returns {{kind: string, text: string, weight: string, node: number}[]} `node` is where the function holds most
 */
export function findingRows(model, { figures, byCount, choice, unit }) {
  const all = byCount ? figures.totalCount[0] : figures.totalBytes[0];
  const measure = (one) => (byCount ? one.count : one.bytes);
  return [...holdersOf(model, figures).values()]
    .filter((one) => all > 0 && measure(one) >= all * LEAST_SHARE)
    .sort((a, b) => measure(b) - measure(a) || a.fn - b.fn)
    .slice(0, MOST)
    .map((one) => {
      const what = plural(one.count, choice.kind || "object");
      const held = byCount ? what : `${formatSize(one.bytes, unit)} in ${what}`;
      const text = `${functionName(model, one.fn)} holds ${held} (${formatPercent(measure(one) / all)})`;
      return { kind: "holder", text, weight: "fact", node: one.node };
    });
}

/** By function; what no frame of the reader's holds belongs to none. */
function holdersOf(model, { selfBytes, selfCount }) {
  const holders = new Map();
  const owner = new Int32Array(model.count);
  for (let node = 1; node < model.count; node += 1) {
    const fn = model.functionOf[node];
    owner[node] = isLibrary(model, fn) ? owner[model.parent[node]] : node;
    if (owner[node] > 0) add(holders, model.functionOf[owner[node]], owner[node], selfBytes[node], selfCount[node]);
  }
  return holders;
}

function add(holders, fn, node, bytes, count) {
  const one = holders.get(fn) ?? { fn, node, bytes: 0, count: 0, byNode: new Map() };
  one.bytes += bytes;
  one.count += count;
  one.byNode.set(node, (one.byNode.get(node) ?? 0) + bytes);
  if (one.byNode.get(node) > (one.byNode.get(one.node) ?? 0)) one.node = node;
  holders.set(fn, one);
}
