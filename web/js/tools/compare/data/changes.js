// @ts-check
/**
 * What changed, as rows of tables: groups, categories, and buffers, of which equal changes are one row. Pure.
 *
 *     lost   12 × -384.00 MiB   fusion.1500{1} and 11 alike   train.py:53
 */
import { column } from "../../../base/column.js";
import { groupDigits } from "../../../base/format.js";

const MINUS = "\u2212";

/** @typedef {{id: string, key: string, before: number, after: number, delta: number, buffers: string}} Group */

const counts = (a, b) => (a === b ? groupDigits(a) : `${groupDigits(a)} → ${groupDigits(b)}`);

/** @returns {Group[]} */
export function groupRows({ groups }) {
  return groups.rows.map((row) => ({
    id: `${row.a_key}\n${row.key}`,
    key: row.key === row.a_key ? row.key : `${row.key} (was ${row.a_key})`,
    keys: { a: row.a_key, b: row.key },
    before: row.a_bytes,
    after: row.b_bytes,
    delta: row.delta_bytes,
    buffers: counts(row.a_buffers, row.b_buffers),
  }));
}

export function categoryRows({ a, b, categories }) {
  const rest = { key: "not in the peak", before: a.fragmentation_bytes, after: b.fragmentation_bytes };
  const rows = categories.rows.map((row) => ({ key: row.key, before: row.a_bytes, after: row.b_bytes }));
  const total = { key: "total", before: a.total_allocation_bytes, after: b.total_allocation_bytes };
  return [...rows, total, ...(rest.before || rest.after ? [rest] : [])].map((row) => ({
    ...row,
    id: row.key,
    delta: row.after - row.before,
  }));
}

const sidesOf = (row) => [row.a, row.b].filter(Boolean);
const both = (a, b) => (a === b || !b ? (a ?? "") : a ? `${a} → ${b}` : b);

function lookOf(row) {
  const side = (one) => one && [one.size_bytes, one.category, one.shape, one.source];
  return JSON.stringify([row.change, row.is_alias, side(row.a), side(row.b)]);
}

const wordsOf = (side) => [side.name, side.source, side.shape, side.op_name, side.category];

/** Equal changes together, in the order of the reply: the largest difference first. */
export function bufferRows({ buffers }) {
  const alike = new Map();
  for (const row of buffers.rows) {
    const look = lookOf(row);
    alike.set(look, [...(alike.get(look) ?? []), row]);
  }
  return [...alike.values()].map(bufferRow);
}

function bufferRow(rows, i) {
  const [first] = rows;
  const shown = first.b ?? first.a;
  const sum = (side) => rows.reduce((bytes, row) => bytes + (row[side]?.size_bytes ?? 0), 0);
  const [before, after] = [sum("a"), sum("b")];
  const alike = `${shown.name} and ${groupDigits(rows.length - 1)} alike`;
  return {
    id: i,
    change: first.is_alias ? (first.a ? "now an alias" : "no alias now") : first.change,
    count: rows.length,
    name: rows.length > 1 ? alike : both(first.a?.name, first.b?.name),
    category: both(first.a?.category, first.b?.category),
    source: both(first.a?.source, first.b?.source),
    shape: both(first.a?.shape, first.b?.shape),
    op: shown.op_name,
    before,
    after,
    delta: after - before,
    keys: { a: first.a?.key ?? null, b: first.b?.key ?? null },
    words: sidesOf(first).flatMap(wordsOf).join("\n").toLowerCase(),
  };
}

/** Those that a search finds, of the group that is pinned. @param {{a: string, b: string} | null} keys */
export function keptBuffers(rows, query, keys) {
  const words = query.trim().toLowerCase();
  const isIn = (row) => keys === null || row.keys.a === keys.a || row.keys.b === keys.b;
  return rows.filter((row) => isIn(row) && row.words.includes(words));
}

/** @type {import("../../../base/column.js").More} */
const SIZE = { width: [112, 700, 92], scale: "size" };

const sizes = [
  column("delta", "Change", "size", "delta", { csv: "DeltaBytes", ...SIZE }),
  column("before", "Before", "size", "before", { csv: "BeforeBytes", ...SIZE, noZero: true }),
  column("after", "After", "size", "after", { csv: "AfterBytes", ...SIZE, noZero: true }),
];

export const GROUP_COLUMNS = [
  ...sizes,
  column("bar", "", "text", "delta", { csv: "", width: ["20%", 900, 0], fixed: true }),
  column("buffers", "Buffers", "text", "buffers", { csv: "Buffers", width: 90, fixed: true }),
  column("held", "Held by", "text", "key", { csv: "Key" }),
];

export const CATEGORY_COLUMNS = [column("category", "Category", "text", "key", { csv: "Category" }), ...sizes];

export const BUFFER_COLUMNS = [
  column("change", "What", "text", "change", { csv: "Change", width: 96 }),
  column("count", "Count", "count", "count", { csv: "Count", width: 62 }),
  ...sizes,
  column("name", "Buffer", "text", "name", { csv: "Name", width: ["20%", 900, "auto"] }),
  column("source", "Source", "text", "source", { csv: "Source", width: ["18%", 900, "30%"] }),
  column("category", "Category", "text", "category", { csv: "Category", width: [110, 1100, 0] }),
  column("shape", "Shape", "text", "shape", { csv: "Shape", width: [undefined, 1000, 0] }),
];

/** As a table sorts them: a change by how large it is, whichever way. CSV has its sign. */
export const sortedColumns = (columns) =>
  columns.map((one) => (one.key === "delta" ? { ...one, value: (row) => Math.abs(row.delta) } : one));

/** "−5.77 GiB", "+12.00 KiB"; a sign that lines up. @param {string} size of the absolute value */
export function signed(delta, size) {
  return `${delta > 0 ? "+" : delta < 0 ? MINUS : ""}${size}`;
}

export function percentOf(before, delta) {
  return before > 0 ? `${signed(delta, Math.abs((100 * delta) / before).toFixed(1))} %` : "";
}
