// @ts-check
// A cell of the leaks table: of an op, of an allocation behind it, or a word in its place.
import { el } from "../../../../base/dom.js";
import { formatSize, groupDigits } from "../../../../base/format.js";
import { formatMs } from "../../../../base/time_text.js";
import { barHeights, stepBars } from "../layout/step_bars.js";
import { fillCell, opName } from "./cells.js";

const STRIP_BARS = 60;
const SPACED_BARS = 20;
const STRIP_HEIGHT = 15;
const NAMED_STEPS = 40;

export function fillLeakCell(cell, column, line, { units, steps, unit }) {
  if (line.kind === "op") fillOpCell(cell, column, line, { units, steps, unit });
  else if (column.key === "op")
    cell.append(el("span", { class: "child-name ellipsis" }, line.text ?? eventText(line.row)));
  else if (line.kind === "event") fillCell(cell, column, EVENT_CELLS[column.key]?.(line.row), units[column.key]);
  if (line.kind === "event" && column.key === "op") cell.title = `${eventText(line.row)} at ${line.row.address}`;
}

const EVENT_CELLS = {
  held: (event) => event.allocated,
  from: (event) => event.step,
};

function eventText({ row, timePs, what }) {
  return `event ${groupDigits(row + 1)} at ${formatMs(timePs)}${what ? `, ${what}` : ""}`;
}

function fillOpCell(cell, column, { row, isOpen }, { units, steps, unit }) {
  if (column.key === "strip") return cell.append(strip(row, steps, unit));
  if (column.key !== "op") return fillCell(cell, column, column.value(row), units[column.key]);
  const mark = row.heldCount > 0 ? (isOpen ? "▾" : "▸") : "";
  const twisty = el("span", { class: "twisty", "aria-hidden": "true" }, mark);
  cell.append(el("span", { class: "tree-name" }, twisty, opName(row.op)));
  cell.title = row.op;
}

function strip(row, steps, unit) {
  const bars = stepBars(row.held, STRIP_BARS);
  const heights = barHeights(
    bars.map((bar) => bar.value),
    STRIP_HEIGHT,
  );
  const nodes = bars.map((_, i) => {
    const node = el("span", { class: "strip-bar" });
    node.style.height = `${heights[i]}px`;
    return node;
  });
  const text = stripText(row.held, steps, unit);
  return el(
    "span",
    { class: bars.length > SPACED_BARS ? "strip dense" : "strip", role: "img", "aria-label": text, title: text },
    ...nodes,
  );
}

function stripText(held, steps, unit) {
  const named = held.slice(-NAMED_STEPS).map((bytes, i) => {
    const k = Math.max(0, held.length - NAMED_STEPS) + i;
    return `step ${steps.step[k]}: ${formatSize(bytes, unit)}`;
  });
  const left = held.length - named.length;
  return `${left > 0 ? `(${left} steps before) ` : ""}${named.join(", ")}`;
}
