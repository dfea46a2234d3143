// @ts-check
/**
 * One device memory profile as columns: the nodes of the stack tree in preorder, and their figures for a choice of kind
 * and device. Pure.
 *
 *     node   0 (all) ─ 1 main ─ 2 train ─ 3 ones          subtree of i: nodes i .. end[i]
 *                             └ 4 eval  ─ 5 ones          parent[i] < i
 * @typedef {{selfBytes: Float64Array, selfCount: Float64Array, totalBytes: Float64Array,
 *            totalCount: Float64Array}} Figures
 */

import { rowsOf } from "../../../base/reply_rows.js";

export function buildModel(reply) {
  const parent = Int32Array.from(reply.nodes.parent);
  const frame = Int32Array.from(reply.nodes.frame);
  const { depth, end } = shapeOf(parent);
  return {
    reply,
    count: parent.length,
    parent,
    frame,
    depth,
    end,
    functionOf: Int32Array.from(frame, (index) => (index < 0 ? -1 : reply.frames.function[index])),
    groups: rowsOf(reply.groups, reply.strings, ["kind", "device"]),
  };
}

function shapeOf(parent) {
  const depth = new Int32Array(parent.length);
  const end = Int32Array.from(parent, (_, i) => i + 1);
  for (let i = 1; i < parent.length; i += 1) depth[i] = depth[parent[i]] + 1;
  for (let i = parent.length - 1; i > 0; i -= 1) end[parent[i]] = Math.max(end[parent[i]], end[i]);
  return { depth, end };
}

export function functionName(model, fn) {
  if (fn < 0) return "all";
  const { functions, strings } = model.reply;
  return strings[functions.name[fn]] || "(no name)";
}

export function functionFile(model, fn) {
  return fn < 0 ? "" : model.reply.strings[model.reply.functions.file[fn]];
}

export function isLibrary(model, fn) {
  return fn >= 0 && model.reply.functions.is_library[fn];
}

export const nodeName = (model, node) => functionName(model, model.functionOf[node]);

/** "/home/u/train.py:41"; "" for what has no place. */
export function nodeSource(model, node) {
  const file = functionFile(model, model.functionOf[node]);
  if (file === "") return "";
  return `${file}:${model.reply.frames.line[model.frame[node]]}`;
}

/** What stands in a frame: the user's own ones name their line. */
export function nodeLabel(model, node) {
  const name = nodeName(model, node);
  if (node === 0 || isLibrary(model, model.functionOf[node])) return name;
  const source = nodeSource(model, node);
  return source ? `${name}   ${source.slice(source.lastIndexOf("/") + 1)}` : name;
}

/** The groups that a choice lets through; null stands for all. */
export function chosenGroups(model, { kind, device }) {
  return model.groups.map(
    (group) => (kind === null || group.kind === kind) && (device === null || group.device === device),
  );
}

/** @returns {Figures} of every node, for the chosen kind and device */
export function figuresFor(model, choice) {
  const { parts } = model.reply;
  const chosen = chosenGroups(model, choice);
  const figures = {
    selfBytes: new Float64Array(model.count),
    selfCount: new Float64Array(model.count),
    totalBytes: new Float64Array(model.count),
    totalCount: new Float64Array(model.count),
  };
  for (let i = 0; i < parts.node.length; i += 1) {
    if (!chosen[parts.group[i]]) continue;
    const node = parts.node[i];
    figures.selfBytes[node] += parts.self_bytes[i];
    figures.selfCount[node] += parts.self_count[i];
    figures.totalBytes[node] += parts.total_bytes[i];
    figures.totalCount[node] += parts.total_count[i];
  }
  return figures;
}
