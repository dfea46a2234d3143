// @ts-check
// The functions as a table: what each holds itself and in all. Sortable, filtered by the search, as CSV.
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { pickUnit, plural, pluralOf } from "../../../base/format.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { COLUMNS, rowsFound, topRows } from "../data/top_rows.js";

export function createTopTable(state) {
  const { model } = state;
  const count = el("span", { class: "facts", id: "top-count" });
  const saved = { columns: () => COLUMNS, rows: () => table.lines() };
  const tools = tableTools({ what: "functions", table: saved }, "copy these functions, exact bytes, as CSV");
  const table = createSortedTable({
    label: "functions",
    className: "top-functions",
    minWidth: 760,
    columns: COLUMNS,
    usual: "total",
    order: { get: () => state.get().sort, set: state.actions.sortBy },
    id: (row) => row.fn,
    pick: pickUnit,
    decorate: (tr, row) => tr.classList.toggle("library", row.library),
    onOpen: (row) => state.actions.search(row.name),
  });
  const none = el("p", { class: "note", hidden: true });
  const node = chartSection("Functions", [count, ...tools], [table.node, none]);
  let rows = [];

  function collect() {
    rows = topRows(model, state.get().figures);
    arrange();
  }

  function arrange() {
    const { flags, unit } = state.get();
    const kept = rowsFound(rows, flags);
    setText(count, pluralOf(kept.length, rows.length, "function"));
    setText(none, `None of the ${plural(rows.length, "function")} matches the search.`);
    none.hidden = kept.length > 0 || rows.length === 0;
    table.show(kept, unit, { all: rows });
  }

  const dispose = together(
    inFrame(state, ["figures"], collect),
    inFrame(state, ["sort", "flags", "unit"], arrange),
    table.dispose,
  );
  return { node, start: collect, redraw: arrange, dispose };
}
