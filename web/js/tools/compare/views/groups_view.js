// @ts-check
// What changed, by line or another way to group. A row that is pinned keeps the buffers below to its own.
import { chartSection } from "../../../base/chart_section.js";
import { el } from "../../../base/dom.js";
import { formatSize, pickUnit, plural } from "../../../base/format.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { GROUP_COLUMNS, groupRows } from "../data/changes.js";
import { fillChange } from "./change_cells.js";

export function createGroups(state, reply, ways) {
  const rows = groupRows(reply);
  const most = Math.max(0, ...rows.map(({ delta }) => Math.abs(delta)));
  const saved = { columns: () => GROUP_COLUMNS, rows: () => rows };
  const tools = tableTools({ what: "what changed", table: saved }, "copy these rows, exact bytes, as CSV");
  const table = createSortedTable({
    label: "what changed, by group",
    className: "compare-groups",
    columns: GROUP_COLUMNS,
    minWidth: 420,
    pick: pickUnit,
    id: (row) => row.id,
    fill: fillChange(() => most),
    onOpen: state.actions.pin,
  });
  const rest = el("p", { class: "note" }, restText(reply, rows));
  const node = chartSection("What changed at the peak", [ways, ...tools], [...(rows.length ? [table.node] : []), rest]);

  const show = () => {
    table.show(rows, state.get().unit);
    mark();
  };
  const mark = () => table.mark({ selected: state.get().pinned?.id ?? null });
  const dispose = together(inFrame(state, ["unit"], show), inFrame(state, ["pinned"], mark), table.dispose);
  return { node, start: show, redraw: show, dispose };
}

function restText({ groups }, rows) {
  const parts = rows.length ? [] : ["Nothing changed, grouped this way."];
  if (groups.left_out) parts.push(`${plural(groups.left_out, "more row")} are not listed.`);
  if (groups.unchanged) {
    const size = formatSize(groups.unchanged_bytes);
    parts.push(`${plural(groups.unchanged, "row")} hold${groups.unchanged === 1 ? "s" : ""} what they held: ${size}.`);
  }
  if (groups.rule === "names")
    parts.push("One line holds more than 80 % of what is computed, so operations stand for it, layer numbers starred.");
  return parts.join(" ");
}
