// @ts-check
// What the timeline says in words: its key, what is under the cursor, what is in view.
import { el } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { formatPercent, formatSize, groupDigits, plural } from "../../../base/format.js";
import { formatDuration, formatMs } from "../../../base/time_text.js";
import { entriesUntil, isExactIn, tellAt } from "../data/curve.js";

export function legend(memory, over, figures) {
  const parts = [
    ["mem-stack", "Stack"],
    ["mem-heap", "Heap"],
    ...(memory.tells_free === false ? [] : [["mem-free", "Free"]]),
  ];
  const entries = parts.map(([color, text]) => entry(swatch(color), text));
  if (memory.tells_free !== false)
    entries.push(entry(el("span", { class: "key-line fragmentation" }), "Fragmentation"));
  const others = over.map((one, i) => entry(swatch(one.color), one.name, figures[i].node));
  return [...entries, ...others];
}

function entry(sign, text, figure = null) {
  return el("span", { class: "key-entry" }, sign, text, figure);
}

/** What the finest of the curves that reach there tells. */
export function tellFinest(curves, time) {
  return curves.reduce((found, curve) => tellAt(curve, time) ?? found, null);
}

export function figureAt(curves, time, unit) {
  const tell = time === null ? null : tellFinest(curves, time);
  return tell ? formatSize(tell.used, unit) : "";
}

export function readoutText(tell, time, { unit, tellsFree }) {
  if (time === null) return "";
  const where = `${formatMs(time, 6)}:  `;
  if (!tell) return `${where}nothing told yet`;
  const free = tellsFree ? `, ${formatSize(tell.free, unit)} free` : "";
  const share =
    Number.isNaN(tell.fragmentation) || !tellsFree ? "" : `, ${formatPercent(tell.fragmentation)} fragmented`;
  const amid = tell.amid ? `, the highest of ${plural(tell.amid, "event")} here` : "";
  return `${where}${formatSize(tell.used, unit)} used${free}${share}${amid}`;
}

/** How many events are in view, and whether each is drawn by itself. */
export function eventsInView(curves, pieces) {
  if (curves.length === 0) return "reading …";
  const counts = pieces.map(({ view }) => countIn(curves, view));
  if (counts.includes(null)) return "";
  const count = counts.reduce((sum, one) => sum + one.count, 0);
  const how = counts.every((one) => one.isExact) ? "each drawn" : "lowest and highest per pixel";
  return `${plural(count, "event")}, ${how}`;
}

/** As the finest curve that reaches there tells it; null where it does not tell this window. */
function countIn(curves, view) {
  const finest = curves.findLast((one) => one.to > view.begin && one.from < view.end);
  if (!finest) return null;
  if (!finest.isExact && finest.from <= view.begin + 1 && finest.to >= view.end - 1)
    return { count: finest.events, isExact: false };
  if (!isExactIn(finest, view)) return null;
  const count = entriesUntil(finest.time, view.end) - entriesUntil(finest.time, view.begin - 1e-3);
  return { count, isExact: true };
}

/** Under the mouse there is a break of the axis. */
export function idleText(one) {
  return one ? `, idle for ${formatDuration(one.silence.end - one.silence.begin)}` : "";
}

export function bandText({ lane, i, begin, end }) {
  const what = lane.kind === "steps" ? `step ${lane.bands.name[i]}` : `${lane.bands.name[i]} on ${lane.label}`;
  return `${what}:  ${formatMs(begin)} to ${formatMs(end)}, ${formatDuration(end - begin)}`;
}

export function summaryText(memory) {
  if (memory.peak_ps === null) return `${groupDigits(memory.events)} memory events over time.`;
  return (
    `Stack, heap and free memory over time, ${plural(memory.events, "event")}; ` +
    `the peak is ${formatSize(memory.peak_bytes)} at ${formatMs(memory.peak_ps)}.`
  );
}
