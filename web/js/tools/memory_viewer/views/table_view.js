// @ts-check
// The live buffers as a table: sortable, filtered by the page's search, as CSV.
import { el, setText } from "../../../base/dom.js";
import { formatSize, groupDigits, pickColumnUnit, plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { copyButton } from "../../../base/clipboard.js";
import { requestFrame } from "../../../base/frame.js";
import { createRowGrid } from "../../../base/row_grid.js";
import { sortAfterClick } from "../../../base/sorting.js";
import { categoryOf } from "../data/categories.js";
import { sumOf } from "../data/live.js";
import { COLUMNS, arrangeRows, shortSource, toCsv } from "../data/table_rows.js";

export function createTable(state) {
  const { model } = state;
  const count = el("span", { class: "facts", id: "table-count" });
  const csv = copyButton(() => toCsv(model, arranged), {
    label: "Copy as CSV",
    title: "copy these rows, all columns, exact bytes, as CSV",
    className: "quiet small",
  });
  const none = el("p", { class: "note", hidden: true });
  /** @type {Uint32Array<ArrayBufferLike>} */
  let arranged = new Uint32Array(0);
  let units = {};
  const grid = createRowGrid(
    {
      count: () => arranged.length,
      id: (index) => arranged[index],
      fill: (cell, column, index) => fillCell(cell, model, arranged[index], column, units),
    },
    {
      label: "live buffers",
      className: "buffers",
      columns: COLUMNS,
      onSort: (column) => state.actions.sortBy(sortAfterClick(state.get().sort, column)),
      onOpen: (index) => state.actions.pinRow(arranged[index]),
      onHover: (index) => state.actions.hoverRow(index === null ? null : arranged[index]),
    },
  );
  const node = el(
    "section",
    { class: "chart" },
    el("div", { class: "chart-head" }, el("h2", {}, "Live buffers"), count, csv),
    grid.node,
    none,
  );

  function arrange() {
    const { rows, sort, flags, unit } = state.get();
    arranged = arrangeRows(model, rows, sort, flags);
    units = columnUnits(model, rows, unit);
    const of = arranged.length === rows.length ? "" : ` of ${groupDigits(rows.length)}`;
    setText(
      count,
      `${groupDigits(arranged.length)}${of} ${rows.length === 1 ? "buffer" : "buffers"}, ` +
        formatSize(sumOf(model.size, arranged), unit),
    );
    none.hidden = arranged.length > 0 || rows.length === 0;
    setText(none, `None of the ${plural(rows.length, "buffer")} live at this step matches the search.`);
    grid.showSort(sort);
    grid.reset();
    markRows();
  }

  function markRows() {
    const { hover, pinned } = state.get();
    grid.mark({ hover, selected: pinned });
  }

  const stops = [
    state.watch(["rows", "sort", "flags", "unit"], () => requestFrame(arrange)),
    state.watch(["hover", "pinned"], () => requestFrame(markRows)),
  ];
  return {
    node,
    start: arrange,
    redraw: arrange,
    dispose() {
      grid.dispose();
      stops.forEach((stop) => stop());
    },
  };
}

function columnUnits(model, rows, mode) {
  const units = {};
  for (const column of COLUMNS.filter((one) => one.kind === "size")) {
    let largest = 0;
    for (const row of rows) largest = Math.max(largest, column.value(model, row) ?? 0);
    units[column.key] = pickColumnUnit(largest, mode);
  }
  return units;
}

function fillCell(cell, model, row, column, units) {
  const value = column.value(model, row);
  if (value === null || value === "" || (value === 0 && column.key === "padding")) return;
  cell.append(...CONTENT[column.kind](value, { model, row, unit: units[column.key] }));
  if (column.kind === "text" || column.kind === "source") cell.title = value;
}

/** What a cell of each kind holds. */
const CONTENT = {
  size: (bytes, { unit }) => [sizeFigure(bytes, "auto", unit)],
  ratio: (ratio) => [el("span", { class: "figure" }, ratio.toFixed(2), el("span", { class: "unit" }, " ×"))],
  category: (label, { model, row }) => [
    el("span", { class: `swatch cat-${categoryOf(model.category[row]).key}` }),
    label,
  ],
  number: (value) => [groupDigits(value)],
  source: (source) => [shortSource(source)],
  text: (text) => [text],
};
