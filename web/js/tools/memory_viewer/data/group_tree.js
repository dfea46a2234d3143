// @ts-check
/**
 * Groups whose keys are paths, as a tree for the icicle: stacks by frame, scopes by segment. Pure.
 *
 *     train.py:9;gpt.py:53;nn.py:1    40        0 all ─ 1 train.py:9 > gpt.py:53 ─ 2 nn.py:1
 *     train.py:9;gpt.py:53;nn.py:7    30                                         └ 3 nn.py:7
 *     params.layers                    9              └ 4 params.layers
 *
 * Frames with one way on are one node: the frames that all stacks have in common take one row. A node's key is the path
 * down to it; larger nodes come first.
 * @typedef {import("../../../base/icicle_layout.js").Tree} Tree
 * @typedef {Tree & {keys: string[], names: string[], bytes: Float64Array}} GroupTree
 */

import { separatorOf } from "./group_paths.js";

const MOST_FRAMES = 200; // of a path; the last one is all that goes on from there

/** @param {import("./groups.js").Groups} groups @returns {GroupTree} */
export function groupTree(groups) {
  const separator = separatorOf(groups.by);
  const root = { key: "", name: "all", bytes: groups.bytes, parts: new Map() };
  for (const { key, bytes } of groups.rows) addPath(root, key, separator, bytes);
  const tree = { count: 0, parent: [], depth: [], end: [], keys: [], names: [], bytes: [] };
  flatten(tree, root, -1, 0);
  return { ...tree, bytes: Float64Array.from(tree.bytes) };
}

function addPath(root, key, separator, bytes) {
  let at = root;
  let end = -1;
  const names = key.split(separator);
  const rest = names.splice(MOST_FRAMES - 1).join(separator);
  for (const name of rest ? [...names, rest] : names) {
    end += name.length + 1;
    if (!at.parts.has(name)) at.parts.set(name, { key: key.slice(0, end), name, bytes: 0, parts: new Map() });
    at = at.parts.get(name);
    at.bytes += bytes;
  }
}

function flatten(tree, node, parent, depth) {
  const at = tree.count;
  const { last, name } = withOnlyWay(node, parent < 0);
  tree.count += 1;
  tree.parent.push(parent);
  tree.depth.push(depth);
  tree.end.push(0);
  tree.keys.push(last.key);
  tree.names.push(name);
  tree.bytes.push(last.bytes);
  const parts = [...last.parts.values()].sort((a, b) => b.bytes - a.bytes);
  for (const part of parts) flatten(tree, part, at, depth + 1);
  tree.end[at] = tree.count;
}

/** The node that an only way from this one ends at, and the names on the way. */
function withOnlyWay(node, isRoot) {
  let last = node;
  const names = [node.name];
  while (!isRoot && last.parts.size === 1) {
    const [next] = last.parts.values();
    if (next.bytes !== last.bytes) break;
    names.push(next.name);
    last = next;
  }
  return { last, name: names.join(" › ") };
}

/** The node of a path, or the one that holds it; 0 for none. @param {GroupTree} tree */
export function nodeOfKey(tree, key) {
  return key === null ? 0 : Math.max(0, tree.keys.indexOf(key));
}
