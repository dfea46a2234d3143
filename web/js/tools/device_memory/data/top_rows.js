// @ts-check
/**
 * The top table: what each function holds itself, and in all that it called. Its columns, order, and CSV. Pure.
 * @typedef {{fn: number, name: string, file: string, library: boolean, selfBytes: number, selfCount: number,
 *            totalBytes: number, totalCount: number}} Row
 * @typedef {{key: string, label: string, csv: string, kind: "text"|"source"|"size"|"count",
 *            value: (row: Row) => any}} Column
 */
import { csvText } from "../../../base/csv.js";
import { compareValues, parseSort as parseSortOf, sortRows, sortText as sortTextOf } from "../../../base/sorting.js";
import { functionFile, functionName, isLibrary } from "./model.js";

/** @type {Column[]} */
export const COLUMNS = [
  { key: "function", label: "Function", csv: "Function", kind: "text", value: (row) => row.name },
  { key: "self", label: "Self", csv: "SelfBytes", kind: "size", value: (row) => row.selfBytes },
  { key: "total", label: "Total", csv: "TotalBytes", kind: "size", value: (row) => row.totalBytes },
  { key: "selfcount", label: "Self count", csv: "SelfCount", kind: "count", value: (row) => row.selfCount },
  { key: "totalcount", label: "Total count", csv: "TotalCount", kind: "count", value: (row) => row.totalCount },
  { key: "file", label: "File", csv: "File", kind: "source", value: (row) => row.file },
];
const DEFAULT_SORT = "total";

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

export const parseSort = (text) => parseSortOf(text, COLUMNS, DEFAULT_SORT);
export const sortText = (sort) => sortTextOf(sort, COLUMNS, DEFAULT_SORT);

/** The rows that `flags` (of functions; null for all) lets through, sorted; equal ones by what they hold, then name. */
export function arrangeRows(rows, sort, flags) {
  const kept = rows.filter((row) => flags === null || flags[row.fn] === 1);
  return sortRows(kept.sort(mostFirst), COLUMNS, sort);
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

export const toCsv = (rows) => csvText(COLUMNS, rows);
