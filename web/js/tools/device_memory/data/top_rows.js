// @ts-check
/**
 * The top table: what each function holds itself, and in all that it called. Pure.
 * @typedef {{fn: number, name: string, file: string, library: boolean, selfBytes: number, selfCount: number,
 *            totalBytes: number, totalCount: number}} Row
 */
import { column } from "../../../base/column.js";
import { compareValues } from "../../../base/sorting.js";
import { functionFile, functionName, isLibrary } from "./model.js";

const HELD = { width: 110, scale: "held", noZero: true };
const COUNT = { width: 96, noZero: true };

export const COLUMNS = [
  column("function", "Function", "text", (row) => row.name, { csv: "Function", width: "26%" }),
  column("self", "Self", "size", (row) => row.selfBytes, { csv: "SelfBytes", ...HELD }),
  column("total", "Total", "size", (row) => row.totalBytes, { csv: "TotalBytes", ...HELD }),
  column("selfcount", "Self count", "count", (row) => row.selfCount, { csv: "SelfCount", ...COUNT }),
  column("totalcount", "Total count", "count", (row) => row.totalCount, { csv: "TotalCount", ...COUNT }),
  column("file", "File", "source", (row) => row.file, { csv: "File" }),
];

/** One row for each function that holds anything; a function that calls itself counts once. @returns {Row[]} */
export function topRows(model, figures) {
  const rows = new Map();
  const onStack = new Int32Array(model.reply.functions.name.length);
  const path = [];
  for (let node = 1; node < model.count; node += 1) {
    while (path.length >= model.depth[node]) onStack[model.functionOf[path.pop()]] -= 1;
    const fn = model.functionOf[node];
    const holds = figures.totalBytes[node] > 0 || figures.totalCount[node] > 0;
    if (holds) addNode(rowOf(rows, model, fn), node, figures, onStack[fn]);
    onStack[fn] += 1;
    path.push(node);
  }
  return [...rows.values()];
}

function rowOf(rows, model, fn) {
  const known = rows.get(fn);
  if (known) return known;
  const row = {
    fn,
    name: functionName(model, fn),
    file: functionFile(model, fn),
    library: isLibrary(model, fn),
    selfBytes: 0,
    selfCount: 0,
    totalBytes: 0,
    totalCount: 0,
  };
  rows.set(fn, row);
  return row;
}

function addNode(row, node, figures, timesAbove) {
  row.selfBytes += figures.selfBytes[node];
  row.selfCount += figures.selfCount[node];
  if (timesAbove > 0) return;
  row.totalBytes += figures.totalBytes[node];
  row.totalCount += figures.totalCount[node];
}

/** The rows that `flags` (of functions; null for all) lets through, those that hold most first. */
export function rowsFound(rows, flags) {
  return rows.filter((row) => flags === null || flags[row.fn] === 1).sort(mostFirst);
}

function mostFirst(a, b) {
  return (
    b.selfBytes - a.selfBytes ||
    b.totalBytes - a.totalBytes ||
    b.totalCount - a.totalCount ||
    compareValues(a.name, b.name, 1) ||
    a.fn - b.fn
  );
}
