// @ts-check
// What was wanted against what there is: bars to one scale, with the capacity as a line through them.
import { el } from "../../../base/dom.js";
import { colored } from "../../../base/figures.js";
import { exactBytes, formatSize } from "../../../base/format.js";
import { barsOf } from "../data/facts.js";

const MENTIONED_SHARE = 0.005;

export function barsNode(message, mode) {
  const { bars, capacity, scale } = barsOf(message);
  if (bars.length === 0 || scale <= 0) return null;
  const share = (bytes) => `${(100 * bytes) / scale}%`;
  return el(
    "div",
    { class: "oom-bars", role: "img", "aria-label": summaryOf(bars, capacity, mode) },
    ...bars.map((bar) => barNode(bar, capacity, share, mode)),
    capacity === null ? null : capacityRow(capacity, share, mode),
  );
}

function barNode(bar, capacity, share, mode) {
  const track = el(
    "div",
    { class: "oom-track" },
    ...bar.segments.map((segment) => segmentNode(segment, share, mode)),
  );
  if (capacity !== null) track.append(markAt(share(capacity)));
  if (bar.over > 0 && capacity !== null) track.append(overNode(bar, capacity, share, mode));
  return el(
    "div",
    { class: "oom-bar", title: bar.title },
    el("span", { class: "oom-bar-label" }, bar.label),
    track,
    el("span", { class: "oom-bar-figures" }, figuresOf(bar, mode)),
  );
}

function segmentNode(segment, share, mode) {
  const node = el("span", {
    class: "segment",
    title: `${segment.label}: ${formatSize(segment.bytes, mode)} (${exactBytes(segment.bytes)})`,
  });
  node.style.width = share(segment.bytes);
  return colored(node, segment.className);
}

/** What is too much. */
function overNode(bar, capacity, share, mode) {
  const node = el("span", { class: "oom-over-part", title: `${formatSize(bar.over, mode)} more than there are` });
  node.style.left = share(capacity);
  node.style.width = share(bar.over);
  return node;
}

function markAt(left) {
  const node = el("span", { class: "capacity-mark" });
  node.style.left = left;
  return node;
}

function capacityRow(capacity, share, mode) {
  const track = el("div", { class: "oom-track" }, el("span", { class: "segment oom-capacity-bar" }));
  /** @type {any} */ (track.firstChild).style.width = share(capacity);
  track.append(markAt(share(capacity)));
  return el(
    "div",
    { class: "oom-bar", title: exactBytes(capacity) },
    el("span", { class: "oom-bar-label" }, "capacity"),
    track,
    el("span", { class: "oom-bar-figures" }, formatSize(capacity, mode)),
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
