// @ts-check
/**
 * Rows grouped by the path of their op, as a tree, and the tree as the lines of a table. Pure.
 *
 *     gradient_tape/dense/MatMul   30            v gradient_tape        40   (group)
 *     gradient_tape/dense/Mul      10     ->       v dense              40
 *     Adam/update                   5                  MatMul           30   (row)
 *                                                      Mul              10
 *                                                Adam/update             5   a group of one is its row
 *
 * @typedef {{id: string, path: string, op: string, rows: any[], children: Group[], total_bytes: number,
 * count: number,           occurrences: number, share: number | null}} Group
 * @typedef {{id: string, depth: number, label: string, group: Group | null, row: any, isOpen: boolean | null}} Line
 */
import { compareValues } from "../../../../base/sorting.js";

/** @returns {Group} the root, which has no name */
export function groupByPath(rows) {
  const root = emptyGroup("", "");
  for (const row of rows) groupOf(root, row).rows.push(row);
  return settle(root);
}

function emptyGroup(path, op) {
  return { id: `group ${path}`, path, op, rows: [], children: new Map(), total_bytes: 0, count: 0, occurrences: 0 };
}

function groupOf(root, row) {
  if (row.kind !== "site") return root;
  let group = root;
  for (const part of row.op.split("/")) {
    const path = group.path === "" ? part : `${group.path}/${part}`;
    if (!group.children.has(part)) group.children.set(part, emptyGroup(path, part));
    group = group.children.get(part);
  }
  return group;
}

/** Sums from the leaves up; without recursion, for a path may be of any depth. */
function settle(root) {
  const order = [root];
  for (let i = 0; i < order.length; i += 1) order.push(...order[i].children.values());
  for (const group of order.reverse()) {
    group.children = [...group.children.values()].map(withoutSingles);
    const parts = [...group.rows, ...group.children];
    group.total_bytes = sum(parts, (part) => part.total_bytes);
    group.occurrences = sum(parts, (part) => part.occurrences ?? 0);
    group.share = parts.some((part) => part.share !== null) ? sum(parts, (part) => part.share ?? 0) : null;
    group.count = group.rows.length + sum(group.children, (child) => child.count);
  }
  return root;
}

/** a -> b -> (rows) is a/b -> (rows). */
function withoutSingles(group) {
  const [only] = group.children;
  if (group.rows.length > 0 || group.children.length !== 1) return group;
  return { ...only, op: `${group.op}/${only.op}` };
}

function sum(parts, value) {
  return parts.reduce((total, part) => total + value(part), 0);
}

/**
 * The lines in sight: `open` holds the ids of open groups, `value` sorts (of a row or a group). Groups and rows of
 * fewer than `minimum` bytes are left out and counted.
 * @returns {{lines: Line[], leftOut: {count: number, bytes: number}}}
 */
export function linesOf(root, { open, value, descending, minimum = 0 }) {
  const lines = [];
  const leftOut = { count: 0, bytes: 0 };
  const waiting = partsOf(root, 0).reverse();
  while (waiting.length > 0) {
    const part = /** @type {any} */ (waiting.pop());
    if (isSmall(part, minimum)) leave(part, leftOut);
    else lines.push(lineOf(part));
    if (part.group && open.has(part.group.id) && !isSmall(part, minimum))
      waiting.push(...partsOf(part.group, part.depth + 1).reverse());
  }
  return { lines, leftOut };

  function partsOf(group, depth) {
    const groups = group.children.map((child) => asPart(child, depth));
    const rows = group.rows.map((row) => ({ row, group: null, label: rowLabel(row, group, root), depth }));
    const sign = descending ? -1 : 1;
    return [...groups, ...rows].sort((a, b) => compareValues(value(a.group ?? a.row), value(b.group ?? b.row), sign));
  }

  function lineOf({ row, group, label, depth }) {
    return { id: (group ?? row).id, depth, label, group, row, isOpen: group && open.has(group.id) };
  }
}

/** A group of one row is that row. */
function asPart(group, depth) {
  const isRow = group.children.length === 0 && group.rows.length === 1;
  return { row: isRow ? group.rows[0] : null, group: isRow ? null : group, label: group.op, depth };
}

function rowLabel(row, group, root) {
  if (group === root) return row.op;
  return [row.data_type, row.shape].filter(Boolean).join(" ") || group.op;
}

function isSmall({ row, group }, minimum) {
  return group ? group.total_bytes < minimum : row.kind === "site" && row.total_bytes < minimum;
}

function leave({ row, group }, leftOut) {
  leftOut.count += group ? group.count : 1;
  leftOut.bytes += (group ?? row).total_bytes;
}

/** The ids of all groups, for opening them at once. */
export function groupIds(root) {
  const order = [...root.children];
  for (let i = 0; i < order.length; i += 1) order.push(...order[i].children);
  return order.map((group) => group.id);
}
