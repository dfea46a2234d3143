// @ts-check
// What fills the memory at the chosen time: XProf's table, exact, for any time, by site or grouped by the op's path.
import { fetchBreakdown } from "../../../../api.js";
import { button, el, setText } from "../../../../base/dom.js";
import { formatSize, groupDigits, plural } from "../../../../base/format.js";
import { requestFrame } from "../../../../base/frame.js";
import { openedText, parseOpened } from "../../../../base/opened_keys.js";
import { opName, treeName } from "../../../../base/cells.js";
import { createSortedTable } from "../../../../base/sorted_table.js";
import { inFrame } from "../../../../base/upkeep.js";
import { BREAKDOWN_COLUMNS, BREAKDOWN_CSV, breakdownRows, withoutSmall } from "../data/breakdown_rows.js";
import { groupByPath, groupIds, linesOf as treeLines } from "../data/op_tree.js";
import { createBreakdownOptions } from "./breakdown_options.js";
import { createOpFilter, matchingOps, noOpMatches, orderOf, panelSaves } from "./controls.js";
import { createMomentHead } from "./moment_head.js";
import { createPanel } from "./panel.js";

export const breakdownPanel = { id: "breakdown", name: "Breakdown", create };

function create(context) {
  const { state } = context;
  const head = createMomentHead(context);
  const filter = createOpFilter(state);
  const options = createBreakdownOptions(context.params, () => requestFrame(panel.update));
  const facts = el("span", { class: "facts" });
  const leftOut = el("p", { class: "note", role: "status" });
  const openAll = button("open all", openOrCloseAll, { class: "quiet small" });
  const open = new Set(parseOpened(context.params.get().opened));
  const table = createSortedTable({
    label: "allocations that fill the memory",
    columns: BREAKDOWN_COLUMNS,
    usual: "total",
    order: orderOf(state),
    id: (line) => line.id,
    rowOf: ({ group, row }) => group ?? row,
    fill: (cell, column, line) => column.key === "op" && fillName(cell, line),
    decorate: (node, { row }) => node.classList.toggle("special", row !== null && row.kind !== "site"),
    onOpen: openLine,
    onToggle: ({ group }) => toggle(group),
  });
  const saves = panelSaves(context, "breakdown", {
    table: { columns: () => BREAKDOWN_CSV, rows: () => table.sorted(rows) },
  });
  const panel = createPanel(context, {
    title: "Breakdown",
    head: [head.node, facts],
    content: [
      el("div", { class: "panel-controls" }, filter.node, options.node, openAll, saves),
      table.node,
      leftOut,
    ],
    label: "reading the breakdown",
    query,
    fetch: (asked, signal) => fetchBreakdown(context.where, asked, signal),
    holds: (reply) => reply.row !== null && reply.row === state.get().row, // only its number became known
    show(reply) {
      rows = breakdownRows(reply);
      head.show(reply);
    },
    arrange,
    watches: ["filter", "unit", "sort"],
    stops: [inFrame(state, ["at", "row"], () => panel.load()), table.dispose, filter.dispose, options.dispose],
  });
  let rows = [];
  let tree = null;

  function query() {
    const { at, row } = state.get();
    return row !== null ? { row } : at !== null ? { time_ps: at } : {};
  }

  function arrange() {
    const { unit } = state.get();
    const { minimum, isGrouped } = options.get();
    const { kept, leftOut: few } = withoutSmall(matchingOps(state, rows), isGrouped ? 0 : minimum);
    let left = few;
    tree = isGrouped ? groupByPath(kept) : null;
    const linesOf = (sorted) => {
      if (!tree)
        return sorted.map((row) => ({ id: row.id, depth: 0, label: row.op, group: null, row, isOpen: null }));
      const { key, descending } = table.sort();
      const column = BREAKDOWN_COLUMNS.find((one) => one.key === key);
      const value = (part) => column.value(part) ?? null;
      const arranged = treeLines(tree, { open, value, descending, minimum });
      left = arranged.leftOut;
      return arranged.lines;
    };
    table.show(kept, unit, { all: rows, linesOf });
    openAll.hidden = !isGrouped;
    setText(openAll, open.size > 0 ? "close all" : "open all");
    setText(facts, factsText(panel.reply(), unit));
    setText(leftOut, noteText(left, unit));
  }

  function factsText(reply, unit) {
    if (reply.heap_bytes === null)
      return "The allocator told no state here: what fills the heap beside these is not known.";
    const heap = `heap ${formatSize(reply.heap_bytes, unit)}`;
    const sites = rows.filter((row) => row.kind === "site").length;
    return `${heap}, ${formatSize(reply.explained_bytes, unit)} of it seen allocated, in ${plural(sites, "row")}`;
  }

  function noteText(left, unit) {
    const parts = [];
    if (left.count > 0)
      parts.push(
        `Left out: ${plural(left.count, "row")} below ${formatSize(options.get().minimum, "auto")}, ` +
          `${formatSize(left.bytes, unit)} together.`,
      );
    const isEmpty = table.lines().length === 0;
    if (isEmpty) parts.push(state.get().filter ? noOpMatches(state) : "Nothing is held at this time.");
    const { xprof } = panel.reply();
    if (xprof?.note) parts.push(xprof.note);
    return parts.join(" ");
  }

  function openLine({ group, row }) {
    if (group) toggle(group);
    else if (row.kind === "site") context.goToEvent(row.first_row);
  }

  function toggle(group) {
    if (!open.delete(group.id)) open.add(group.id);
    openedChanged();
  }

  function openOrCloseAll() {
    const ids = open.size > 0 || !tree ? [] : groupIds(tree);
    open.clear();
    ids.forEach((id) => open.add(id));
    openedChanged();
  }

  function openedChanged() {
    context.params.set({ opened: openedText([...open]) });
    arrange();
  }

  return panel;
}

function fillName(cell, line) {
  const { label, group, row } = line;
  const count = group && el("span", { class: "tree-count" }, groupDigits(group.count));
  cell.append(treeName(line, false, opName(label), ...(count ? [count] : [])));
  cell.title = group ? group.path : row.title;
  return true;
}
