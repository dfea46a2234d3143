// @ts-check
// The live buffers as a table: sortable, filtered by the page's search, as CSV.
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { formatSize, plural, pluralOf } from "../../../base/format.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { categoryOf } from "../data/categories.js";
import { sumOf } from "../data/live.js";
import { bufferColumns, savedColumns } from "../data/table_rows.js";
import { createAbsentGroup } from "./absent_group.js";

export function createTable(state) {
  const { model } = state;
  const count = el("span", { class: "facts", id: "table-count" });
  const saved = { columns: () => savedColumns(model), rows: () => table.lines() };
  const title = "copy these rows, all columns, exact bytes, as CSV";
  const tools = tableTools({ what: "live buffers", table: saved }, title);
  const none = el("p", { class: "note", hidden: true });
  const absent = createAbsentGroup(state, "table-to-group");
  const table = createSortedTable({
    label: "live buffers",
    className: "buffers",
    minWidth: 660,
    columns: bufferColumns(model),
    usual: "size",
    order: { get: () => state.get().sort, set: state.actions.sortBy },
    id: (row) => row,
    fill: (cell, column, row) => column.kind === "category" && fillCategory(cell, model, row),
    onOpen: state.actions.pinRow,
    onHover: state.actions.hoverRow,
  });
  const node = chartSection("Live buffers", [count, ...tools], [table.node, none, absent.node]);

  function arrange() {
    const { rows, flags, group, held, unit } = state.get();
    const kept = flags ? rows.filter((row) => flags[row]) : rows;
    const bytes = formatSize(sumOf(model.size, kept), unit);
    setText(count, `${pluralOf(kept.length, rows.length, "buffer")}, ${bytes}`);
    const inGroup = group === null ? rows.length : liveCount(model, held, rows);
    absent.show(group !== null && inGroup === 0);
    none.hidden = kept.length > 0 || inGroup === 0;
    const where = group === null ? "" : ` of ${held?.name ?? group}`;
    setText(none, `None of the ${plural(inGroup, "buffer")}${where} live at this step matches the search.`);
    table.show(kept, unit, { all: rows });
    markRows();
  }

  function markRows() {
    const { hover, pinned } = state.get();
    table.mark({ hover, selected: pinned });
  }

  const dispose = together(
    inFrame(state, ["rows", "sort", "flags", "unit", "held"], arrange),
    inFrame(state, ["hover", "pinned"], markRows),
    table.dispose,
  );
  return { node, start: arrange, redraw: arrange, dispose };
}

function fillCategory(cell, model, row) {
  const { key, label } = categoryOf(model.category[row]);
  cell.append(swatch(`cat-${key}`), label);
  return true;
}

function liveCount(model, held, rows) {
  if (held === null) return 0;
  const isHeld = new Set(held.rows);
  return rows.filter((row) => isHeld.has(row)).length;
}
