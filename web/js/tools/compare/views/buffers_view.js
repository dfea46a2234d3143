// @ts-check
// What became of each buffer, equal changes in one row; of the pinned group, and what the search finds.
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, pickUnit, plural } from "../../../base/format.js";
import { createSearchBox } from "../../../base/search_box.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { BUFFER_COLUMNS, bufferRows, keptBuffers, signed, sortedColumns } from "../data/changes.js";
import { fillChange } from "./change_cells.js";

export function createBuffers(state, reply) {
  const all = bufferRows(reply);
  const count = el("span", { class: "facts", id: "compare-count" });
  const search = createSearchBox(state, "query", {
    id: "search",
    placeholder: "Search buffer, source or shape  /",
    label: "search the buffers that changed",
  });
  const release = button("", () => state.actions.pin(null), { class: "quiet small", hidden: true, title: "Esc" });
  const saved = { columns: () => BUFFER_COLUMNS, rows: () => table.lines() };
  const tools = tableTools({ what: "changed buffers", table: saved }, "copy these rows, exact bytes, as CSV");
  const table = createSortedTable({
    label: "buffers that changed",
    className: "compare-buffers",
    columns: sortedColumns(BUFFER_COLUMNS),
    minWidth: 620,
    usual: "delta",
    order: { get: () => state.get().sort, set: state.actions.sortBy },
    pick: pickUnit,
    id: (row) => row.id,
    fill: fillChange(() => 0),
  });
  const rest = el("p", { class: "note" }, restText(reply));
  const head = [count, search.node, release, ...tools];
  const node = chartSection("Buffers that changed", head, [...(all.length ? [table.node] : []), rest]);

  function show() {
    const { query, pinned, unit } = state.get();
    const kept = keptBuffers(all, query, pinned?.keys ?? null);
    const buffers = kept.reduce((sum, row) => sum + row.count, 0);
    const delta = kept.reduce((sum, row) => sum + row.delta, 0);
    setText(count, `${plural(buffers, "buffer")}, ${signed(delta, formatSize(Math.abs(delta), unit))}`);
    release.hidden = pinned === null;
    setText(release, pinned ? `of ${pinned.key}  ✕` : "");
    table.show(kept, unit, { all });
  }

  const dispose = together(inFrame(state, ["query", "pinned", "sort", "unit"], show), table.dispose, search.dispose);
  return { node, start: show, redraw: show, focusSearch: search.focus, dispose };
}

function restText({ buffers }) {
  const parts = buffers.rows.length ? [] : ["No buffer changed."];
  if (buffers.left_out)
    parts.push(
      `${plural(buffers.left_out, "more buffer")} are not listed; they change by ` +
        `${signed(buffers.left_out_delta_bytes, formatSize(Math.abs(buffers.left_out_delta_bytes)))} in all.`,
    );
  if (buffers.unchanged)
    parts.push(`${plural(buffers.unchanged, "buffer")} of ${formatSize(buffers.unchanged_bytes)} are the same.`);
  return parts.join(" ");
}
