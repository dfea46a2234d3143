// @ts-check
// A plan's steps as bars under each other, and the choice among plans: one stop for Tab, the arrow keys choose.
import { fitWords } from "./change_names.js";
import { copyButton } from "./clipboard.js";
import { el } from "./dom.js";
import { sizeFigure } from "./figures.js";
import { formatSize, pickUnit } from "./format.js";
import { plainTable } from "./plain_table.js";
import { barPiece, capacityMark, sizeTold } from "./scaled_bar.js";
import {
  capacityText,
  fitOfRow,
  rangeText,
  waterfallRows,
  waterfallScale,
  waterfallText,
} from "./waterfall.js";

/** @param {any[]} plans @param {any} chosen @param {(kind: string) => void} choose @param {string} name of it */
export function planChoice(plans, chosen, choose, name) {
  if (plans.length < 2) return null;
  const label = (plan) => {
    const change = () => choose(plan.kind);
    const field = el("input", { type: "radio", name, value: plan.kind, on: { change } });
    field.checked = plan === chosen;
    return el("label", { class: "way", title: titleOf(plan) }, field, el("span", {}, plan.title));
  };
  return el("div", { class: "ways plan-choice", role: "radiogroup", "aria-label": "plans" }, ...plans.map(label));
}

function titleOf(plan) {
  const { numerics, speed, work, chips } = plan.cost ?? {};
  const cost = plan.cost ? `; cost: numerics ${numerics}, speed ${speed}, work ${work}, chips ${chips}` : "";
  return `${formatSize(plan.predicted_total_bytes)}${plan.fit ? `, ${fitWords(plan.fit)}` : ""}${cost}`;
}

const TOTAL = "Total with all changes so far";

/** @param {any} plan with `steps` @param {{today: number, capacity: number | null, mode: string}} context */
export function waterfallChart(plan, { today, capacity, mode }) {
  const rows = waterfallRows(plan, today);
  const unit = pickUnit(today, mode);
  const scale = waterfallScale(rows, capacity);
  const heads = [
    ["Step", "col-change"],
    [capacity === null ? TOTAL : `${TOTAL}: blue fits, striped may fit`, "col-bar"],
    ["", "col-total"],
    ["Range", "col-range"],
    ["Saves", "col-saves"],
  ];
  const table = plainTable(
    { class: "advice-table waterfall-table", "aria-label": "the plan step by step" },
    heads,
    rows.map((row) => rowNode(row, { scale, capacity, unit, mode })),
  );
  const copy = copyButton(() => waterfallText(rows, capacity, mode), { title: "copy the steps as text" });
  const told = capacity === null ? null : el("span", { class: "note" }, capacityText(capacity, mode));
  const foot = el("div", { class: "waterfall-foot" }, told, copy);
  return el("div", { class: "waterfall" }, el("div", { class: "advice-scroll" }, table), foot);
}

function rowNode(row, { scale, capacity, unit, mode }) {
  const { predicted_total_bytes: total, saves_bytes: saves } = row;
  const isStep = saves !== null;
  return el(
    "tr",
    { data: { step: row.id ?? "today" } },
    el("td", { class: "col-change" }, row.title),
    el("td", { class: "col-bar" }, barOf(row, scale, capacity, mode)),
    el("td", { class: "col-total" }, sizeFigure(total, "auto", unit)),
    el("td", { class: "col-range" }, isStep ? rangeText(row.low_bytes, row.high_bytes, unit) : ""),
    el("td", { class: saves < 0 ? "col-saves costs" : "col-saves" }, isStep ? sizeFigure(saves, "auto", unit) : ""),
  );
}

const FIT_CLASSES = { too_big: "advice-bar over", may_fit: "advice-bar may" };

/** What is left full, what the step takes away pale behind it, or what it adds in the colour of costs. */
function barOf(row, scale, capacity, mode) {
  const { predicted_total_bytes: total, before, low_bytes: low, high_bytes: high } = row;
  const least = Math.min(total, before);
  const left = row.id === null ? "advice-bar today-bar" : (FIT_CLASSES[fitOfRow(row, capacity)] ?? "advice-bar");
  return el(
    "div",
    { class: "advice-track", title: `total ${sizeTold(total, mode)}` },
    barPiece(total > before ? "waterfall-added" : "waterfall-gone", Math.abs(before - total), scale, { from: least }),
    barPiece(left, least, scale, { from: 0 }),
    high > low ? barPiece("advice-whisker", high - low, scale, { from: low }) : null,
    capacityMark(capacity, scale, mode),
  );
}
