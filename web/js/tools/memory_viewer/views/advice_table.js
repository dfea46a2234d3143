// @ts-check
// The changes as a table: a bar of the predicted total against today's and the capacity, and what speaks for each.
import { button, el, setText } from "../../../base/dom.js";
import { fitWords } from "../../../base/change_names.js";
import { exactBytes, figureIn, formatSize, pickUnit, sizeIn } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { numericsNode } from "../../../base/numerics.js";
import { plainTable } from "../../../base/plain_table.js";
import { barPiece, capacityMark } from "../../../base/scaled_bar.js";
import { copyable } from "../../../shell/messages.js";

/** @param {{unit: string, expanded: Set<string>}} context `expanded` keeps which rows are open */
export function adviceTable(advice, context) {
  if (advice.applying.length === 0) {
    return [el("p", { class: "note" }, "No change that is known here would help this program."), othersNode(advice)];
  }
  const unit = pickUnit(advice.total_bytes, context.unit);
  const rows = advice.applying.flatMap((change) => rowsOf(change, advice, unit, context));
  const options = { class: "advice-table", "aria-label": "changes that apply" };
  const table = plainTable(options, headsOf(advice), [todayRow(advice, unit), ...rows]);
  return [el("div", { class: "advice-scroll" }, table), othersNode(advice)];
}

const COLUMN_COUNT = 6;

function headsOf({ capacity }) {
  return [
    ["Change", "col-change"],
    [capacity === null ? "Predicted total" : "Predicted total: blue fits, striped may fit", "col-bar"],
    ["", "col-total"],
    ["Range", "col-range"],
    ["Saves", "col-saves"],
    ["Numerics", "col-numerics"],
  ];
}

function todayRow(advice, unit) {
  const today = { predicted_total_bytes: advice.total_bytes };
  return el(
    "tr",
    { class: "today" },
    el("td", { class: "col-change" }, "today"),
    el("td", { class: "col-bar" }, barOf(advice, { ...today, className: "today-bar" })),
    el("td", { class: "col-total" }, sizeFigure(advice.total_bytes, "auto", unit)),
    el(
      "td",
      { class: "col-range note", colspan: 3 },
      advice.capacity === null ? "" : `capacity ${formatSize(advice.capacity)}, the dashed line`,
    ),
  );
}

function rowsOf(change, advice, unit, { expanded }) {
  const id = `advice-of-${change.id}`;
  const details = el(
    "tr",
    { id, class: "advice-details" },
    el("td", { colspan: COLUMN_COUNT }, ...detailsOf(change)),
  );
  const name = button("", toggle, { class: "bare advice-name", "aria-controls": id });

  function toggle() {
    if (!expanded.delete(change.id)) expanded.add(change.id);
    show();
  }

  function show() {
    const isOpen = expanded.has(change.id);
    details.hidden = !isOpen;
    name.setAttribute("aria-expanded", String(isOpen));
    setText(name, `${isOpen ? "▾" : "▸"} ${change.title}`);
  }

  show();
  return [rowOf(change, advice, unit, name), details];
}

function rowOf(change, advice, unit, name) {
  const range = `${figureIn(change.low_bytes, unit)} to ${sizeIn(change.high_bytes, unit)}`;
  const fit = fitWords(change.fit);
  const title = "where the recompiled program's total is expected";
  const tag = change.isPlanned ? el("span", { class: "in-plan" }, "in the plan") : null;
  return el(
    "tr",
    { class: change.isPlanned ? "planned" : null, data: { change: change.id } },
    el("td", { class: "col-change" }, name, tag),
    el("td", { class: "col-bar" }, barOf(advice, { ...change, className: FIT_CLASSES[change.fit] ?? "" })),
    el("td", { class: "col-total" }, sizeFigure(change.predicted_total_bytes, "auto", unit)),
    el("td", { class: "col-range", title }, fit ? `${range}, ${fit}` : range),
    el(
      "td",
      { class: change.saves_bytes < 0 ? "col-saves costs" : "col-saves" },
      sizeFigure(change.saves_bytes, "auto", unit),
    ),
    el("td", { class: "col-numerics" }, numericsNode(change.changes_numerics, ["same", "changes"])),
  );
}

const FIT_CLASSES = { too_big: "over", may_fit: "may" };

function understoodText({ understood }) {
  const wide = understood < 0.8 ? "; the range is wider for the rest" : "";
  return `${Math.floor(understood * 100)} % of the bytes that this is about are understood${wide}.`;
}

function detailsOf(change) {
  return [
    change.understood < 1 ? el("p", { class: "note understood" }, understoodText(change)) : null,
    change.evidence.length ? el("ul", {}, ...change.evidence.map((text) => el("li", {}, text))) : null,
    el("p", {}, change.how),
    change.code ? copyable(change.code, "copy the code") : null,
  ].filter((part) => part !== null);
}

/** Today's total as the pale ground, the predicted one over it, its range as a whisker, the capacity dashed. */
function barOf({ scale, capacity, total_bytes: today }, bar) {
  const piece = (className, from, bytes) => barPiece(className, bytes, scale, { from });
  return el(
    "div",
    { class: "advice-track", title: titleOf(bar) },
    piece("advice-today", 0, today),
    piece(`advice-bar ${bar.className}`, 0, bar.predicted_total_bytes),
    bar.high_bytes > bar.low_bytes ? piece("advice-whisker", bar.low_bytes, bar.high_bytes - bar.low_bytes) : null,
    capacityMark(capacity, scale),
  );
}

function titleOf(bar) {
  const peak = bar.predicted_peak_bytes === undefined ? "" : `, peak ${exactBytes(bar.predicted_peak_bytes)}`;
  const fit = bar.fit ? `, ${fitWords(bar.fit)}` : "";
  return `total ${exactBytes(bar.predicted_total_bytes)}${peak}${fit}`;
}

function othersNode({ others, untold }) {
  const parts = [
    listNode(untold, "of which nothing can be told from this program"),
    listNode(others, "that would not help here, and why"),
  ].filter((part) => part !== null);
  return parts.length ? el("div", {}, ...parts) : null;
}

function listNode(changes, what) {
  if (changes.length === 0) return null;
  const items = changes.map((change) =>
    el("div", {}, el("dt", {}, change.title), el("dd", {}, change.evidence.join("; ") || "does not apply here")),
  );
  return el(
    "details",
    { class: "advice-others", data: { others: changes[0].isUntold ? "untold" : "useless" } },
    el("summary", {}, `${changes.length} ${what}`),
    el("dl", {}, ...items),
  );
}
