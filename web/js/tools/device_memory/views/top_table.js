// @ts-check
// The functions as a table: what each holds itself and in all. Sortable, filtered by the search, as CSV.
import { el, setText } from "../../../base/dom.js";
import { groupDigits, pickUnit, plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { copyButton } from "../../../base/clipboard.js";
import { requestFrame } from "../../../base/frame.js";
import { createRowGrid } from "../../../base/row_grid.js";
import { sortAfterClick } from "../../../base/sorting.js";
import { shortSource } from "../../memory_viewer/data/table_rows.js";
import { COLUMNS, arrangeRows, toCsv, topRows } from "../data/top_rows.js";

export function createTopTable(state) {
  const { model } = state;
  const count = el("span", { class: "facts", id: "top-count" });
  const csv = copyButton(() => toCsv(arranged), {
    label: "Copy as CSV",
    title: "copy these functions, exact bytes, as CSV",
    className: "quiet small",
  });
  const grid = createRowGrid(
    { count: () => arranged.length, id: (i) => arranged[i].fn, fill, decorate },
    {
      label: "functions",
      className: "top-functions",
      columns: COLUMNS,
      onSort: (column) => state.actions.sortBy(sortAfterClick(state.get().sort, column)),
      onOpen: (i) => state.actions.search(arranged[i].name),
    },
  );
  const none = el("p", { class: "note", hidden: true });
  const node = el(
    "section",
    { class: "chart" },
    el("div", { class: "chart-head" }, el("h2", {}, "Functions"), count, csv),
    grid.node,
    none,
  );
  let rows = [];
  let arranged = [];
  let unit = pickUnit(0);

  function collect() {
    rows = topRows(model, state.get().figures);
    arrange();
  }

  function arrange() {
    const { sort, flags, unit: mode } = state.get();
    arranged = arrangeRows(rows, sort, flags);
    unit = pickUnit(
      rows.reduce((most, row) => Math.max(most, row.totalBytes), 0),
      mode,
    );
    const of = arranged.length === rows.length ? "" : ` of ${groupDigits(rows.length)}`;
    setText(count, `${groupDigits(arranged.length)}${of} ${rows.length === 1 ? "function" : "functions"}`);
    setText(none, `None of the ${plural(rows.length, "function")} matches the search.`);
    none.hidden = arranged.length > 0 || rows.length === 0;
    grid.showSort(sort);
    grid.reset();
  }

  function fill(cell, column, i) {
    const value = column.value(arranged[i]);
    if (value === 0) return;
    if (column.kind === "size") cell.append(sizeFigure(value, "auto", unit));
    else if (column.kind === "count") cell.append(groupDigits(value));
    else {
      cell.append(column.kind === "source" ? shortSource(value) : value);
      cell.title = value;
    }
  }

  function decorate(tr, i) {
    tr.classList.toggle("library", arranged[i].library);
  }

  const stops = [
    state.watch(["figures"], () => requestFrame(collect)),
    state.watch(["sort", "flags", "unit"], () => requestFrame(arrange)),
  ];
  return {
    node,
    start: collect,
    redraw: arrange,
    dispose() {
      grid.dispose();
      stops.forEach((stop) => stop());
    },
  };
}
