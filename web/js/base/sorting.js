// @ts-check
/**
 * Sorting a table by one of its columns. Figures start with the largest, texts with the first.
 * @typedef {{key: string, descending: boolean}} Sort
 */

const LARGEST_FIRST = ["size", "ratio", "share", "count", "duration"];

export function startsDescending(column) {
  return LARGEST_FIRST.includes(column.kind);
}

/** What a click on the head of `column` makes of the present order. @returns {Sort} */
export function sortAfterClick(sort, column) {
  return { key: column.key, descending: sort.key === column.key ? !sort.descending : startsDescending(column) };
}

/**
 * A sort as it stands in an address: "size" is size in its own direction, "size-asc" says otherwise. What names no
 * column is the sort by `usual`.
 */
export function parseSort(text, columns, usual) {
  const [key, direction] = (text ?? "").split("-");
  const column = columns.find((one) => one.key === key) ?? columns.find((one) => one.key === usual);
  return { key: column.key, descending: direction ? direction === "desc" : startsDescending(column) };
}

/** null for the usual sort, which needs no word. */
export function sortText({ key, descending }, columns, usual) {
  const column = columns.find((one) => one.key === key);
  if (descending === startsDescending(column)) return key === usual ? null : key;
  return `${key}-${descending ? "desc" : "asc"}`;
}

/** Negative when `a` stands before `b`; an unknown value comes last in either direction. */
export function compareValues(a, b, sign) {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -sign : sign;
}

/** A sorted copy; equal ones stay in the order in which they came. @param {ArrayLike<any>} rows @returns {any[]} */
export function sortRows(rows, columns, sort) {
  const column = columns.find((one) => one.key === sort.key);
  if (!column) return Array.from(rows);
  const sign = sort.descending ? -1 : 1;
  const values = Array.from(rows, (row) => column.value(row) ?? null);
  const order = Uint32Array.from(values.keys()).sort((a, b) => compareValues(values[a], values[b], sign) || a - b);
  return Array.from(order, (i) => rows[i]);
}
