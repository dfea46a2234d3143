// @ts-check
// What the programs of a session keep while they are loaded, to scale, and what evicting or merging them would free.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { pickUnit } from "../../../base/format.js";
import { plainTable } from "../../../base/plain_table.js";
import { barPiece } from "../../../base/scaled_bar.js";
import { LOADED_COLUMNS, loadedTitle } from "../data/loaded.js";
import { tablePart } from "./part.js";

const HEADS = [
  ["Keeps", "number"],
  ["", "oom-share"],
  ["Constants", "number"],
  ["Temporaries", "number"],
  ["Program", "holder"],
];

/** None for a message of another kind, or without a session. */
export function loadedNode(message, mode) {
  const loaded = message.loaded_together;
  if (!loaded?.programs.length) return null;
  const most = Math.max(1, loaded.programs[0].size_bytes);
  const unit = pickUnit(most, mode);
  const rows = loaded.programs.map((row) => rowOf(row, most, unit));
  const options = { class: "oom-table oom-holders oom-loaded", "aria-label": loadedTitle(loaded) };
  return tablePart(
    loadedTitle(loaded),
    { columns: () => LOADED_COLUMNS, rows: () => loaded.programs },
    el("div", { class: "oom-table-scroll" }, plainTable(options, HEADS, rows)),
    ...loaded.notes.map((text) => el("p", { class: "note" }, text)),
  );
}

function rowOf(row, most, unit) {
  const size = (bytes) => el("td", { class: "number" }, sizeFigure(bytes, "auto", unit));
  const bar = el("div", { class: "oom-share-bar" }, barPiece("oom-held", row.size_bytes, most));
  const name = row.is_failing ? `${row.module}, which found no room` : row.module;
  return el(
    "tr",
    { data: { loaded: row.module } },
    size(row.size_bytes),
    el("td", { class: "oom-share" }, bar),
    size(row.constant_bytes),
    size(row.temporary_bytes),
    el("td", { class: "holder mono" }, name),
  );
}
