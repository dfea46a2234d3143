// @ts-check
/**
 * A table of rows with its order, its units and its cells; row_grid.js below it keeps in the DOM what is in sight.
 *
 *     rows -> sorted by a column -> lines (a row each, or a tree of them) -> grid
 *
 * A column is that of row_grid.js, with
 *     value(row)    sorts, is written as CSV, and fills the cell by its `kind` (cells.js)
 *     csv           its name there; scale, digits, noZero: see cells.js
 * The order is one word of the address (sorting.js); whoever owns the word hands in `order`. Without one the rows stay
 * as they come. Lines of a tree are {depth, isOpen}, isOpen null where there is nothing to open; they need `onToggle`,
 * and `rowOf` where the columns tell of something in the line.
 */
import { fillCell, unitsOf } from "./cells.js";
import { createRowGrid } from "./row_grid.js";
import { parseSort, sortAfterClick, sortRows, sortText } from "./sorting.js";

const SIDEWAYS = ["ArrowLeft", "ArrowRight"];

/**
 * @param {{label: string, columns: any[], usual?: string, order?: {get: () => string | null, set: (word: string | null)
 *          => void}, id: (line: any) => any, fill?: (cell: HTMLElement, column: any, line: any, units: any) => boolean,
 *          decorate?: (row: HTMLElement, line: any) => void, onOpen?: (line: any, event: Event) => void,
 *          onHover?: (line: any) => void, onToggle?: (line: any) => void,
 *          rowOf?: (line: any) => any, onKey?: (event: KeyboardEvent, line: any) => boolean, className?: string,
 *          minWidth?: number,
 *          pick?: (bytes: number, mode?: string) => any}} options `usual` names the column of the usual order; `fill`
 *     may put a cell's content itself, and says whether it did; `pick` chooses the unit of a column
 */
export function createSortedTable(options) {
  const {
    columns,
    usual = "",
    order,
    id,
    fill,
    decorate,
    onOpen,
    onHover,
    onToggle,
    rowOf = (line) => line,
  } = options;
  let lines = [];
  let units = {};
  const grid = createRowGrid(
    {
      count: () => lines.length,
      id: (index) => id(lines[index]),
      fill(cell, column, index) {
        if (!fill?.(cell, column, lines[index], units))
          fillCell(cell, column, column.value?.(rowOf(lines[index])), units[column.key]);
      },
      decorate(node, index) {
        if (onToggle) markLevel(node, lines[index]);
        decorate?.(node, lines[index]);
      },
    },
    {
      ...options,
      role: onToggle ? "treegrid" : "grid",
      onSort: order && ((column) => order.set(sortText(sortAfterClick(sort(), column), columns, usual))),
      onOpen: onOpen && ((index, event) => onOpen(lines[index], event)),
      onHover: onHover && ((index) => onHover(index === null ? null : lines[index])),
      onKey,
    },
  );

  const sort = () => (order ? parseSort(order.get(), columns, usual) : null);
  const sorted = (rows) => (order ? sortRows(rows, columns, sort()) : rows);

  /**
   * @param {ArrayLike<any>} rows
   * @param {string} mode the unit that the user chose
   * @param {{all?: ArrayLike<any>, linesOf?: (rows: any) => any[]}} [parts] `all`: rows with those left out, which
   *     keep the units from changing with a filter; `linesOf` makes lines of the sorted rows
   */
  function show(rows, mode, { all = rows, linesOf = (same) => same } = {}) {
    units = unitsOf(columns, all, mode, options.pick);
    lines = linesOf(sorted(rows));
    grid.showSort(sort());
    grid.reset();
  }

  /** As in any tree: right opens or goes in, left closes or goes out. Else they would step through a chart. */
  function onKey(event, index) {
    const line = lines[index];
    if (!onToggle || !SIDEWAYS.includes(event.key)) return options.onKey?.(event, line) ?? false;
    const goesIn = event.key === "ArrowRight";
    if (goesIn && line.isOpen) return index + 1;
    if (line.isOpen === !goesIn) return (onToggle(line), true);
    if (!goesIn && line.depth > 0) return lines.findLastIndex((one, i) => i < index && one.depth < line.depth);
    return lines.some((one) => one.isOpen !== null);
  }

  return { node: grid.node, show, sort, sorted, lines: () => lines, mark: grid.mark, dispose: grid.dispose };
}

function markLevel(node, { depth, isOpen }) {
  node.setAttribute("aria-level", String(depth + 1));
  if (isOpen !== null) node.setAttribute("aria-expanded", String(isOpen));
}
