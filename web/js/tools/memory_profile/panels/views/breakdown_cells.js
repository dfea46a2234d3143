// @ts-check
// A cell of the breakdown: of an allocation site, of a group of them, or of one of the named rests.
import { el } from "../../../../base/dom.js";
import { groupDigits } from "../../../../base/format.js";
import { fillCell, opName } from "./cells.js";

const INDENT = 14;

export function fillBreakdownCell(cell, column, line, units) {
  if (column.key === "op") return fillName(cell, line);
  const value = line.group ? GROUP_CELLS[column.key]?.(line.group) : column.value(line.row);
  fillCell(cell, column, value ?? null, units[column.key]);
}

const GROUP_CELLS = {
  total: (group) => group.total,
  share: (group) => group.share,
  occurrences: (group) => group.occurrences,
};

function fillName(cell, { depth, label, group, row, isOpen }) {
  const name = el("span", { class: "tree-name" });
  name.style.paddingLeft = `${INDENT * depth}px`;
  if (group) name.append(el("span", { class: "twisty", "aria-hidden": "true" }, isOpen ? "▾" : "▸"));
  name.append(opName(label));
  if (group) name.append(el("span", { class: "tree-count" }, groupDigits(group.count)));
  cell.append(name);
  cell.title = group ? group.path : row.title;
}
