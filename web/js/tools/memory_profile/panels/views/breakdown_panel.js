// @ts-check
// What fills the memory at the chosen time: XProf's table, exact, for any time, by site or grouped by the op's path.
import { fetchBreakdown, fetchEvents } from "../../../../api.js";
import { button, el, setText } from "../../../../base/dom.js";
import { csvText } from "../../../../base/csv.js";
import { formatSize, plural } from "../../../../base/format.js";
import { requestFrame } from "../../../../base/frame.js";
import { createRowGrid } from "../../../../base/row_grid.js";
import { parseSort, sortAfterClick, sortRows, sortText } from "../../../../base/sorting.js";
import { BREAKDOWN_COLUMNS, BREAKDOWN_CSV, breakdownRows, selectRows } from "../data/breakdown_rows.js";
import { groupByPath, groupIds, linesOf } from "../data/op_tree.js";
import { unitsOf } from "./cells.js";
import { createBreakdownOptions } from "./breakdown_options.js";
import { fillBreakdownCell } from "./breakdown_cells.js";
import { createOpFilter, csvButton } from "./controls.js";
import { createMomentHead } from "./moment_head.js";
import { createLoader, createPanelFrame } from "./panel_frame.js";

const USUAL_SORT = "total";
const SIDEWAYS = ["ArrowLeft", "ArrowRight"];

export const breakdownPanel = { id: "breakdown", name: "Breakdown", create };

function create(context) {
  const { state } = context;
  const head = createMomentHead(context);
  const filter = createOpFilter(state);
  const options = createBreakdownOptions(() => requestFrame(arrange));
  const facts = el("span", { class: "facts" });
  const leftOut = el("p", { class: "note", role: "status" });
  const openAll = button("open all", openOrCloseAll, { class: "quiet small" });
  const open = new Set();
  const grid = createGrid();
  const csv = csvButton(context, "breakdown", () =>
    csvText(BREAKDOWN_CSV, sortRows(rows, BREAKDOWN_COLUMNS, sort())),
  );
  const frame = createPanelFrame(
    "Breakdown",
    [head.node, facts],
    [el("div", { class: "panel-controls" }, filter.node, options.node, openAll, csv), grid.node, leftOut],
  );
  const loader = createLoader(frame, context);
  let reply = null;
  let rows = [];
  /** @type {any[]} */
  let lines = [];
  let tree = null;
  let units = {};

  const sort = () => parseSort(state.get().sort, BREAKDOWN_COLUMNS, USUAL_SORT);

  function createGrid() {
    return createRowGrid(
      {
        count: () => lines.length,
        id: (index) => lines[index].id,
        fill: (cell, column, index) => fillBreakdownCell(cell, column, lines[index], units),
        decorate: decorateLine,
      },
      {
        label: "allocations that fill the memory",
        className: "profile-grid breakdown-grid",
        role: "treegrid",
        columns: BREAKDOWN_COLUMNS,
        onSort: (column) =>
          state.set({ sort: sortText(sortAfterClick(sort(), column), BREAKDOWN_COLUMNS, USUAL_SORT) }),
        onOpen: openLine,
        onKey,
      },
    );
  }

  function decorateLine(node, index) {
    const { depth, group, row, isOpen } = lines[index];
    node.setAttribute("aria-level", String(depth + 1));
    if (group) node.setAttribute("aria-expanded", String(isOpen));
    else if (row.kind !== "site") node.classList.add("special");
  }

  function load() {
    const { at, row } = state.get();
    if (row !== null && reply?.row === row) return loader.keep(); // only its number became known
    const query = row !== null ? { row } : at !== null ? { time_ps: at } : {};
    loader.load(query, "reading the breakdown", (signal) => fetchBreakdown(context.where, query, signal), show);
  }

  function show(now) {
    reply = now;
    rows = breakdownRows(now);
    head.show(now);
    arrange();
  }

  function arrange() {
    if (!reply) return;
    const { filter: query, unit } = state.get();
    const { key, descending } = sort();
    const { minimum, isGrouped } = options.get();
    units = unitsOf(BREAKDOWN_COLUMNS, rows, unit);
    const left = isGrouped ? arrangeTree(query, minimum, key, descending) : arrangeList(query, minimum);
    openAll.hidden = !isGrouped;
    setText(openAll, open.size > 0 ? "close all" : "open all");
    grid.showSort(sort());
    grid.reset();
    setText(facts, factsText(unit));
    setText(leftOut, noteText(left, query, unit));
  }

  function arrangeList(query, minimum) {
    const { kept, leftOut: left } = selectRows(rows, query, minimum);
    lines = sortRows(kept, BREAKDOWN_COLUMNS, sort()).map((row) => ({
      id: row.id,
      depth: 0,
      label: row.op,
      group: null,
      row,
      isOpen: false,
    }));
    return left;
  }

  function arrangeTree(query, minimum, key, descending) {
    tree = groupByPath(selectRows(rows, query, 0).kept);
    const column = BREAKDOWN_COLUMNS.find((one) => one.key === key);
    const value = (part) => ("path" in part ? groupValue(part, key) : column.value(part));
    const arranged = linesOf(tree, { open, value, descending, minimum });
    lines = arranged.lines;
    return arranged.leftOut;
  }

  function factsText(unit) {
    if (reply.heap_bytes === null)
      return "The allocator told no state here: what fills the heap beside these is not known.";
    const heap = `heap ${formatSize(reply.heap_bytes, unit)}`;
    const sites = rows.filter((row) => row.kind === "site").length;
    return `${heap}, ${formatSize(reply.explained_bytes, unit)} of it seen allocated, in ${plural(sites, "row")}`;
  }

  function noteText(left, query, unit) {
    const parts = [];
    if (left.count > 0)
      parts.push(
        `Left out: ${plural(left.count, "row")} below ${formatSize(options.get().minimum, "auto")}, ` +
          `${formatSize(left.bytes, unit)} together.`,
      );
    if (lines.length === 0) parts.push(query ? `No op matches "${query}".` : "Nothing is held at this time.");
    if (reply.xprof?.note) parts.push(reply.xprof.note);
    return parts.join(" ");
  }

  function openLine(index) {
    const { group, row } = lines[index];
    if (group) toggle(group);
    else if (row.firstRow !== null) goToRow(row.firstRow);
  }

  function toggle(group) {
    if (!open.delete(group.id)) open.add(group.id);
    arrange();
  }

  function openOrCloseAll() {
    const ids = open.size > 0 || !tree ? [] : groupIds(tree);
    open.clear();
    ids.forEach((id) => open.add(id));
    arrange();
  }

  async function goToRow(row) {
    const event = await fetchEvents(context.where, { row }).catch(() => null);
    if (event?.row.length) context.goTo({ at: event.time_ps[0], row });
  }

  /** As in any tree: right opens or goes in, left closes or goes out. */
  function onKey(event, index) {
    const { group, isOpen, depth } = lines[index];
    if (event.key === "ArrowRight" && group) return isOpen ? index + 1 : (toggle(group), true);
    if (event.key === "ArrowLeft" && isOpen) return (toggle(group), true);
    if (event.key === "ArrowLeft" && depth > 0)
      return lines.findLastIndex((one, i) => i < index && one.depth < depth);
    return options.get().isGrouped && SIDEWAYS.includes(event.key); // else it would move the chosen event
  }

  const stops = [
    state.watch(["at", "row"], () => requestFrame(load)),
    state.watch(["filter", "unit", "sort"], () => requestFrame(arrange)),
  ];
  load();
  return {
    node: frame.node,
    update: load,
    dispose() {
      stops.forEach((stop) => stop());
      loader.stop();
      grid.dispose();
      filter.dispose();
      reply = null;
    },
  };
}

const GROUP_VALUES = {
  op: (group) => group.label,
  total: (group) => group.total,
  share: (group) => group.share,
  occurrences: (group) => group.occurrences,
};

function groupValue(group, key) {
  return GROUP_VALUES[key]?.(group) ?? null;
}
