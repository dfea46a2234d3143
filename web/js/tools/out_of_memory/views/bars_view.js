// @ts-check
// What was wanted against what there is: bars to one scale, with the capacity as a line through them.
import { el } from "../../../base/dom.js";
import { colored } from "../../../base/figures.js";
import { exactBytes, formatSize } from "../../../base/format.js";
import { barPiece, capacityMark, sizeTold } from "../../../base/scaled_bar.js";
import { barsOf } from "../data/facts.js";

const MENTIONED_SHARE = 0.005;

export function barsNode(message, mode) {
  const { bars, capacity, scale } = barsOf(message);
  if (bars.length === 0 || scale <= 0) return null;
  return el(
    "div",
    { class: "oom-bars", role: "img", "aria-label": summaryOf(bars, capacity, mode) },
    ...bars.map((bar) => barNode(bar, capacity, scale, mode)),
    capacity === null ? null : capacityRow(capacity, scale, mode),
  );
}

function barNode(bar, capacity, scale, mode) {
  const pieces = bar.segments.map((segment) => segmentNode(segment, scale, mode));
  const over = { from: capacity, title: `${formatSize(bar.over, mode)} more than there are` };
  if (capacity !== null) pieces.push(capacityMark(capacity, scale, mode));
  if (bar.over > 0 && capacity !== null) pieces.push(barPiece("oom-over-part", bar.over, scale, over));
  return rowNode(bar.title, bar.label, pieces, figuresOf(bar, mode));
}

function segmentNode({ label, bytes, className }, scale, mode) {
  return colored(barPiece("segment", bytes, scale, { title: `${label}: ${sizeTold(bytes, mode)}` }), className);
}

function capacityRow(capacity, scale, mode) {
  const pieces = [barPiece("segment oom-capacity-bar", capacity, scale), capacityMark(capacity, scale, mode)];
  return rowNode(exactBytes(capacity), "capacity", pieces, formatSize(capacity, mode));
}

function rowNode(title, label, pieces, figures) {
  return el(
    "div",
    { class: "oom-bar", title },
    el("span", { class: "oom-bar-label" }, label),
    el("div", { class: "oom-track" }, ...pieces),
    el("span", { class: "oom-bar-figures" }, figures),
  );
}

/** What cannot be seen in the bar stands in its tooltips only. */
function figuresOf({ segments, bytes, label }, mode) {
  if (segments.length === 1 && segments[0].label === label) return formatSize(bytes, mode);
  return segments
    .filter((segment) => segment.bytes > MENTIONED_SHARE * bytes)
    .map((segment) => `${segment.label} ${formatSize(segment.bytes, mode)}`)
    .join(", ");
}

function summaryOf(bars, capacity, mode) {
  const parts = bars.map((bar) => `${bar.label}: ${figuresOf(bar, mode)}`);
  if (capacity !== null) parts.push(`capacity: ${formatSize(capacity, mode)}`);
  return parts.join("; ");
}
