// @ts-check
// "Who holds it": the groups that hold most, at the peak or at the step of the cursor. The largest at first, all when
// asked; a row's twisty lists its buffers, a click pins it: every chart then shows it alone.
import { opName, shareText, treeName } from "../../../base/cells.js";
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, groupDigits, pickUnit, plural } from "../../../base/format.js";
import { createFold } from "../../../base/fold.js";
import { tableTools } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { errorLine } from "../../../shell/messages.js";
import { COMPACT_ROWS, GROUP_COLUMNS, groupLine, memberLines } from "../data/group_lines.js";
import { groupsFound, sharesOf, weighGroups } from "../data/group_weights.js";
import { membersOf, rulesOf } from "../data/groups.js";
import { createAbsentGroup } from "./absent_group.js";
import { createWaySwitch } from "./way_switch.js";
import { createWhoIcicle } from "./who_icicle.js";
import { createWhoOptions } from "./who_options.js";

/** @param {ReturnType<import("../group_feed.js").createGroupFeed>} feed */
export function createWho(state, feed, params) {
  const title = document.createTextNode("Who holds it");
  const ways = createWaySwitch(state);
  const rules = el("span", { class: "aside", id: "who-rules" });
  const options = createWhoOptions(state, params);
  const fold = createFold("who-options", "options", options.node);
  const saved = { columns: () => GROUP_COLUMNS, rows: () => table.sorted(shown) };
  const saves = { what: "who holds it", picture: () => node, table: saved };
  const tools = tableTools(saves, "copy the groups found, exact bytes, as CSV");
  const toggleAll = () => state.actions.showGroups(!state.get().allGroups);
  const rest = button("", toggleAll, { class: "bare who-rest", id: "who-rest" });
  const none = el("p", { class: "note", hidden: true });
  const absent = createAbsentGroup(state, "who-to-group");
  const failed = el("div", { class: "who-error", hidden: true });
  /** @type {import("../data/group_weights.js").WeighedGroup[]} */
  let shown = [];
  const table = createSortedTable({
    label: "who holds it",
    className: "who-grid",
    minWidth: 560,
    columns: GROUP_COLUMNS,
    usual: "share",
    order: { get: () => state.get().groupSort, set: state.actions.sortGroups },
    id: (line) => line.id,
    rowOf: (line) => line.told,
    pick: pickUnit,
    fill: (cell, column, line) => column.key === "held" && fillHeld(cell, line),
    onOpen: openLine,
    onToggle: toggle,
    onHover: hover,
  });
  const icicle = createWhoIcicle(state, feed);
  const content = [options.node, icicle.node, table.node, none, rest, absent.node, failed];
  const node = chartSection(title, [ways.node, rules, fold.opener, ...tools], content, { class: "chart who" });

  const groups = () => feed.get().groups;

  function arrange() {
    const { isBusy, error } = feed.get();
    node.hidden = state.model.wholeCount === 0;
    node.setAttribute("aria-busy", String(isBusy));
    failed.hidden = !error;
    failed.replaceChildren(...(error ? [errorLine(error)] : []));
    showHead();
    const all = weighGroups(groups()?.rows ?? [], state.get().weight);
    shown = groupsFound(all, options.query());
    table.show(shown, state.get().unit, { all, linesOf });
    showRest();
    showAbsent();
    mark();
  }

  /** The pinned group may hold nothing at the step that is told; the groups of the step before tell nothing of it. */
  function showAbsent() {
    const now = groups();
    const { group, hoverGroup, step } = state.get();
    const isTold = now !== null && now.step === step && hoverGroup === null;
    absent.show(isTold && group !== null && membersOf(now, group).length === 0);
  }

  function showHead() {
    const { model } = state;
    const now = groups();
    const step = now?.step ?? state.get().step;
    const where = model.steps === 0 ? "" : step === model.peakStep ? " at the peak" : ` at step ${groupDigits(step)}`;
    const text = `Who holds it${where}`;
    if (title.data !== text) title.data = text;
    setText(rules, now ? rulesOf(now, shareText) : "");
  }

  function linesOf(rows) {
    const { model } = state;
    const { opened, allGroups } = state.get();
    const shareOf = sharesOf(groups()?.rows ?? [], state.get().weight);
    const inSight = allGroups ? rows : rows.slice(0, COMPACT_ROWS);
    return inSight.flatMap((group) => {
      const isOpen = model.isWhole ? opened.includes(group.key) : null;
      const line = groupLine(group, isOpen);
      return isOpen ? [line, ...memberLines(model, group, shareOf)] : [line];
    });
  }

  function showRest() {
    const rows = table.sorted(shown).slice(COMPACT_ROWS);
    const bytes = rows.reduce((sum, group) => sum + group.bytes, 0);
    const held = `${formatSize(bytes, state.get().unit)}, ${shareText(bytes / (groups()?.bytes || 1))}`;
    const all = groups()?.rows.length ?? 0;
    none.hidden = shown.length > 0 || all === 0;
    setText(none, `None of the ${plural(all, "group")} matches the search.`);
    rest.hidden = rows.length === 0;
    const { allGroups } = state.get();
    rest.setAttribute("aria-expanded", String(allGroups));
    setText(rest, allGroups ? "▾ only the first five" : `▸ ${groupDigits(rows.length)} more hold ${held}`);
    rest.title = allGroups ? "" : `${plural(rows.length, "group")} more, ${groupDigits(bytes)} B`;
  }

  function openLine(line, event) {
    const isSign = event.target instanceof Element && event.target.closest(".twisty") !== null;
    if (line.row !== null) state.actions.pinRow(line.row);
    else if (isSign) toggle(line);
    else state.actions.pinGroup(line.group.key);
  }

  function toggle({ group }) {
    state.actions.toggleGroup(group.key);
  }

  function hover(line) {
    state.actions.hoverGroup(line ? line.group.key : null);
    state.actions.hoverRow(line?.row ?? null);
  }

  function mark() {
    const { group, pinned } = state.get();
    const line = table.lines().find((one) => (pinned !== null && one.row === pinned) || isPinned(one, group));
    table.mark({ selected: line?.id ?? null });
  }

  const dispose = together(
    feed.watch(["groups", "error", "isBusy"], arrange),
    inFrame(state, ["unit", "rows", "weight"], arrange),
    state.watch(["opened", "allGroups", "groupSort"], arrange),
    options.watch(["query"], arrange),
    options.dispose,
    inFrame(state, ["group", "pinned"], mark),
    inFrame(state, ["held"], showAbsent),
    ways.dispose,
    icicle.dispose,
    table.dispose,
  );
  return { node, start: arrange, redraw: icicle.redraw, dispose };
}

const isPinned = (line, group) => group !== null && line.row === null && line.group.key === group;

function fillHeld(cell, line) {
  const name = line.row === null ? opName(line.told.key) : el("span", { class: "ellipsis" }, line.told.key);
  cell.append(treeName(line, true, name));
  cell.title = line.told.title ?? line.told.key;
  return true;
}
