// @ts-check
// Who holds it: a row for each line, to scale, with what a person would otherwise add up.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { formatPercent, pickUnit } from "../../../base/format.js";
import { plainTable } from "../../../base/plain_table.js";
import { barPiece } from "../../../base/scaled_bar.js";
import { HOLDER_COLUMNS, alikeText, holdersTitle, leftOutText } from "../data/holders.js";
import { tablePart } from "./part.js";

const HEADS = [
  ["Size", "number"],
  ["Share", "number"],
  ["Held by", "holder"],
  ["", "oom-share"],
  ["Buffers", "alike"],
  ["About", "about"],
];

export function holdersNode(message, mode) {
  const holders = message.who_holds;
  if (!holders?.rows.length) return null;
  const unit = pickUnit(holders.rows[0].size_bytes, mode);
  const rows = holders.rows.map((row) => rowOf(row, holders.rows[0].size_bytes, unit, mode));
  const options = { class: "oom-table oom-holders", "aria-label": holdersTitle(holders) };
  const more = leftOutText(holders, mode);
  return tablePart(
    holdersTitle(holders),
    { columns: () => HOLDER_COLUMNS, rows: () => holders.rows },
    el("div", { class: "oom-table-scroll" }, plainTable(options, HEADS, rows)),
    more ? el("p", { class: "note" }, more) : null,
  );
}

function rowOf(row, scale, unit, mode) {
  const bar = barPiece("oom-held", row.size_bytes, scale);
  return el(
    "tr",
    { data: { holder: row.key } },
    el("td", { class: "number" }, sizeFigure(row.size_bytes, "auto", unit)),
    el("td", { class: "number" }, formatPercent(row.share)),
    el("td", { class: "holder mono" }, row.key),
    el("td", { class: "oom-share" }, el("div", { class: "oom-share-bar" }, bar)),
    el("td", { class: "alike" }, alikeText(row, mode)),
    el("td", { class: "about" }, row.about ?? ""),
  );
}
