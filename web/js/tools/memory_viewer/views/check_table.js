// @ts-check
// A check of the advice against the compiler: how far it is, and predicted beside compiled, row by row as they come.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { figureIn, pickUnit, sizeIn } from "../../../base/format.js";
import { plainTable } from "../../../base/plain_table.js";

/** @param {import("../data/check_progress.js").Progress} progress @param {string} mode of units @returns {Node[]} */
export function checkTable(progress, mode) {
  const unit = pickUnit(Math.max(0, ...progress.rows.map((row) => row.compiled ?? 0)), mode);
  const columns = progress.isOfFlags ? OF_FLAGS : OF_CHANGES;
  const rows = progress.rows.map((row) => rowNode(row, columns, unit));
  if (progress.compiling !== null) rows.push(waitingRow(progress.compiling, columns.length));
  const heads = columns.map(({ head, key }) => [head, key]);
  const options = { class: "check-table", "aria-label": "what the compiler made of it" };
  return [
    ...(rows.length ? [el("div", { class: "advice-scroll" }, plainTable(options, heads, rows))] : []),
    ...progress.left.map(({ reason, names }) => el("p", { class: "note" }, `${names.join(", ")}: ${reason}.`)),
  ];
}

/** @param {import("../data/check_progress.js").Progress} progress */
export function checkBar({ state, compiled, total }) {
  if (state !== "running" || total === 0) return null;
  return el("progress", { value: compiled, max: total, "aria-label": "compiled of those that there are" });
}

const NAME = { head: "Change", key: "col-name", text: nameNode };
const COMPILED = { head: "Compiled", key: "col-figure", text: (row, unit) => bytesNode(row.compiled, unit) };
const TIME = { head: "Took", key: "col-figure", text: (row) => (row.seconds ? `${row.seconds.toFixed(1)} s` : "") };
const OF_CHANGES = [
  NAME,
  { head: "Predicted", key: "col-figure", text: (row, unit) => bytesNode(row.predicted, unit) },
  { head: "Range", key: "col-range", text: rangeText },
  COMPILED,
  { head: "Off", key: "col-figure", text: offNode },
  TIME,
];
const OF_FLAGS = [
  { ...NAME, head: "XLA flag" },
  COMPILED,
  { head: "Against as it is", key: "col-figure", text: changeNode },
  TIME,
];

function rowNode(row, columns, unit) {
  const cells = columns.map(({ key, text }) => el("td", { class: key }, text(row, unit)));
  return el("tr", { class: row.isOutside ? "outside" : null, data: { check: row.id } }, ...cells);
}

function nameNode({ name, mark, hasFailed }) {
  const className = hasFailed ? "error-line" : "note";
  return el("div", {}, name, mark === null ? null : el("div", { class: className }, mark));
}

function bytesNode(bytes, unit) {
  return bytes === null ? "-" : sizeFigure(bytes, "auto", unit);
}

function rangeText({ range }, unit) {
  return range ? `${figureIn(range[0], unit)} to ${sizeIn(range[1], unit)}` : "";
}

function offNode({ offPercent, isOutside }) {
  if (offPercent === null) return "-";
  const text = `${offPercent < 0 ? "" : "+"}${offPercent.toFixed(1)} %`;
  return isOutside ? el("strong", { class: "check-outside" }, `${text} outside`) : text;
}

function changeNode({ id, change }, unit) {
  if (change === null || id === "as_it_is") return "";
  if (change === 0) return "same";
  return `${change < 0 ? "-" : "+"}${sizeIn(Math.abs(change), unit)}`;
}

function waitingRow(name, columns) {
  const told = [el("span", {}, name), el("span", { class: "note" }, " compiling …")];
  return el("tr", { class: "waiting" }, el("td", { colspan: columns }, ...told));
}
