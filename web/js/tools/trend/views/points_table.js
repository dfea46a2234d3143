// @ts-check
// The sessions as a table, the newest first; a row is chosen with a click.
import { chartSection } from "../../../base/chart_section.js";
import { pickUnit } from "../../../base/format.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { deltaFigure } from "./delta_figure.js";
import { columnsOf, csvColumnsOf, timeText } from "../data/points.js";

/** @param {any} state @param {any} reply the first one: which columns there are does not change */
export function createPointsTable(state, reply) {
  let rows = [];
  let latest = reply;
  const saved = { columns: () => csvColumnsOf(latest), rows: () => table.lines() };
  const tools = tableTools({ what: "trend", table: saved }, "copy these rows, exact bytes, as CSV");
  const table = createSortedTable({
    label: "sessions, the newest first",
    className: "trend-points",
    columns: columnsOf(reply),
    minWidth: 560,
    usual: "time",
    order: { get: () => state.get().sort, set: state.actions.sortBy },
    pick: pickUnit,
    id: ({ id }) => id,
    fill(cell, { key }, row) {
      if (key === "time") cell.append(timeText(row.timeS));
      else if (key === "delta" && row.delta) cell.append(deltaFigure(row.delta));
      else return false;
      return true;
    },
    onOpen: ({ id }) => state.actions.choose(id),
    onHover: (row) => state.actions.hoverAt(row?.index ?? null),
  });
  const node = chartSection("Sessions", tools, [table.node]);

  const draw = () => {
    table.show(rows, state.get().unit);
    mark();
  };
  const mark = () => table.mark({ selected: state.get().chosen });

  function show(nextReply, points) {
    latest = nextReply;
    rows = [...points].reverse();
    draw();
  }

  const dispose = together(inFrame(state, ["unit", "sort"], draw), inFrame(state, ["chosen"], mark), table.dispose);
  return { node, show, redraw: draw, dispose };
}
