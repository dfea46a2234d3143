// @ts-check
/**
 * What a table says of one of its columns, once: for the grid (row_grid.js), the order (sorting.js), the cells
 * (cells.js) and CSV (csv.js). Pure.
 *
 *     key    names it in the address        kind    aligns it, says what a cell holds and where sorting starts
 *     label  its head                       value   of a row: sorted by, written as CSV, shown
 *     csv    its name in CSV                title   of its head
 *     width  pixels, or as CSS has it; a share of what is left without one. [usual, under, narrow, under, narrower]:
 *            narrow in a table of less than `under` pixels, where 0 leaves the column out: the least important first,
 *            CSV keeps all
 *     fixed  not to be sorted by            scale   columns of one scale share their unit: they are compared
 *     noZero a 0 is left blank              digits  decimals of a time
 * @typedef {number | string | (number | string)[]} Width
 * @typedef {{csv?: string, title?: string, width?: Width, fixed?: boolean, scale?: string, noZero?: boolean,
 *            digits?: number}} More
 * @typedef {More & {key: string, label: string, kind: string, value: (row: any) => any}} Column
 */

/** @param {string | ((row: any) => any)} value or the row's member that is it @param {More} more @returns {Column} */
export function column(key, label, kind, value, more = {}) {
  return { key, label, kind, value: typeof value === "string" ? (row) => row[value] : value, ...more };
}

/** The columns with room in a table so many pixels wide, each with one width. @param {Column[]} columns */
export function columnsIn(columns, room) {
  return columns.map((one) => ({ ...one, width: widthIn(one.width, room) })).filter(({ width }) => width !== 0);
}

/** @param {Width | undefined} width */
function widthIn(width, room) {
  if (!Array.isArray(width)) return width;
  let [fitting] = width;
  for (let i = 1; i < width.length; i += 2) if (room < width[i]) fitting = width[i + 1];
  return fitting;
}
