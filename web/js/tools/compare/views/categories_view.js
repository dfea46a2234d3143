// @ts-check
// The totals of both, by category, side by side.
import { chartSection } from "../../../base/chart_section.js";
import { pickUnit } from "../../../base/format.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { CATEGORY_COLUMNS, categoryRows } from "../data/changes.js";
import { fillChange } from "./change_cells.js";

export function createCategories(state, reply) {
  const rows = categoryRows(reply);
  const saved = { columns: () => CATEGORY_COLUMNS, rows: () => rows };
  const tools = tableTools({ what: "totals by category", table: saved }, "copy these rows, exact bytes, as CSV");
  const table = createSortedTable({
    label: "totals by category",
    className: "compare-categories",
    columns: CATEGORY_COLUMNS,
    pick: pickUnit,
    id: (row) => row.id,
    fill: fillChange(() => 0),
  });
  const node = chartSection("Totals by category", [...tools], [table.node]);
  const show = () => table.show(rows, state.get().unit);
  return { node, start: show, redraw: show, dispose: together(inFrame(state, ["unit"], show), table.dispose) };
}
