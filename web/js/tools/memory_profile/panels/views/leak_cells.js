// @ts-check
// A cell of the leaks table: of an op, of an allocation behind it, or a word in its place.
import { fillCell, opName, treeName } from "../../../../base/cells.js";
import { el } from "../../../../base/dom.js";
import { formatSize, groupDigits } from "../../../../base/format.js";
import { formatMs } from "../../../../base/time_text.js";
import { stepBars } from "../layout/step_bars.js";

const STRIP_BARS = 60;
const SPACED_BARS = 20;
const STRIP_HEIGHT = 15;
const NAMED_STEPS = 40;

/** @returns {boolean} whether it is done: most figures of an op are what their column says */
export function fillLeakCell(cell, column, line, { units, steps, unit }) {
  if (column.key === "op") fillName(cell, line);
  else if (line.kind === "event") fillCell(cell, column, EVENT_CELLS[column.key]?.(line.row), units[column.key]);
  else if (line.kind === "op" && column.key === "strip") cell.append(strip(line.row, steps, unit));
  else return line.kind === "word";
  return true;
}

const EVENT_CELLS = {
  held: (event) => event.allocated_bytes,
  from: (event) => event.step,
};

function eventText({ row, time_ps: time, data_type: type, shape, region_type: region }) {
  const what = [type, shape, region].filter(Boolean).join(" ");
  return `event ${groupDigits(row + 1)} at ${formatMs(time)}${what ? `, ${what}` : ""}`;
}

function fillName(cell, line) {
  const { kind, row, text } = line;
  const what = text ?? (kind === "event" ? eventText(row) : "");
  const name = kind === "op" ? opName(row.op) : el("span", { class: "ellipsis" }, what);
  cell.append(treeName(line, true, name));
  cell.title = kind === "op" ? row.op : kind === "event" ? `${what} at ${row.address}` : what;
}

function strip(row, steps, unit) {
  const bars = stepBars(row.held_bytes, STRIP_BARS, STRIP_HEIGHT);
  const nodes = bars.map(({ height }) => {
    const node = el("span", { class: "strip-bar" });
    node.style.height = `${height}px`;
    return node;
  });
  const text = stripText(row.held_bytes, steps, unit);
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
