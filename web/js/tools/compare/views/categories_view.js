// @ts-check
// The totals of both, by category, side by side.
import { chartSection } from "../../../base/chart_section.js";
import { copyButton } from "../../../base/clipboard.js";
import { csvText } from "../../../base/csv.js";
import { pickUnit } from "../../../base/format.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { CATEGORY_COLUMNS, categoryRows } from "../data/changes.js";
import { fillChange } from "./change_cells.js";

export function createCategories(state, reply) {
  const rows = categoryRows(reply);
  const csv = copyButton(() => csvText(CATEGORY_COLUMNS, rows), {
    label: "Copy as CSV",
    title: "copy these rows, exact bytes, as CSV",
    className: "quiet small",
  });
  const table = createSortedTable({
    label: "totals by category",
    className: "compare-categories",
    columns: CATEGORY_COLUMNS,
    pick: pickUnit,
    id: (row) => row.id,
    fill: fillChange(() => 0),
  });
  const node = chartSection("Totals by category", [csv], [table.node]);
  const show = () => table.show(rows, state.get().unit);
  return { node, start: show, redraw: show, dispose: together(inFrame(state, ["unit"], show), table.dispose) };
}
