// @ts-check
// What the timeline says in words: of a block, of a folded band, of what is free. Pure.
import { formatSize, groupDigits, plural, pluralOf } from "../../../base/format.js";
import { TEMPORARY, categoryOf } from "./categories.js";
import { labelOf } from "./labels.js";
import { instructionOf } from "./model.js";

/** @param {any} model @param {import("./labels.js").GroupOfRow | null} groupOf */
export function blockWords(model, row, groupOf, unit) {
  const size = formatSize(model.size[row], unit);
  const name = labelOf(model, row, groupOf);
  if (model.category[row] !== TEMPORARY)
    return `${name}: ${size}, ${categoryOf(model.category[row]).label.toLowerCase()}, the whole program`;
  const life = `steps ${groupDigits(model.startStep[row])} to ${groupDigits(model.endStep[row])}`;
  return `${name}: ${size} at offset ${formatSize(model.offset[row], unit)}, ${life}`;
}

/** All of a category. */
export const bandName = (category) => ["Parameters", "Donated", "Outputs", "Constants", "Temporary"][category];

/** A lane or a band, as its edge or its bar names it. */
export function laneWords({ category, allocation, begin, end, count }, unit) {
  const size = formatSize(end - begin, unit);
  if (allocation === null) return `${bandName(category)}  ${size}  ${plural(count, "buffer")}`;
  return `${allocationName(allocation)}  ${size}${count === 0 ? "  not simulated" : ""}`;
}

const allocationName = (allocation) => (allocation < 0 ? "no allocation" : `allocation ${allocation}`);

/** "1.20 of 51.09 GiB free in 14 ranges": of one lane or of several. */
export function freeWords({ bytes, freeBytes, count }, unit) {
  const [free, whole] = [freeBytes, bytes].map((size) => formatSize(size, unit));
  const [figure, unitOfFree] = free.split(" ");
  const share = `${whole.endsWith(` ${unitOfFree}`) ? figure : free} of ${whole} free`;
  return count > 1 ? `${share} in ${groupDigits(count)} ranges` : share;
}

/** @param {{lane: any, hole: {begin: number, end: number}}} found @param {boolean} isOneOfMany lanes */
export function rangeWords({ lane, hole }, unit, isOneOfMany) {
  const place = `${formatSize(hole.end - hole.begin, unit)} at offset ${formatSize(hole.begin - lane.begin, unit)}`;
  return isOneOfMany ? `${place} of ${allocationName(lane.allocation)}` : place;
}

/** What is free, all in all. @param {any} sum of holes (layout/holes.js) @param {number} lanes */
export function holesWords(sum, unit, lanes) {
  if (sum.bytes === 0) return "";
  const words = freeWords(sum, unit);
  return sum.count > 1 ? `${words}, the largest ${rangeWords(sum.largest, unit, lanes > 1)}` : words;
}

/** "step 347, fusion.20"; without the instruction where there is no room for it. */
export function stepWords(model, step, isShort) {
  const name = isShort ? "" : instructionOf(model, step);
  return `step ${groupDigits(step)}${name ? `, ${name}` : ""}`;
}

/** @param {import("../layout/blocks.js").Blocks} blocks */
export function timelineSummary(blocks) {
  const temporary = blocks.lanes.filter((lane) => lane.allocation !== null);
  const inBands = blocks.bands.map(({ lane }) => laneWords(lane, "auto").replaceAll("  ", " "));
  const buffers = temporary.reduce((sum, lane) => sum + lane.count, 0);
  const what = `${plural(buffers, "temporary buffer")} in ${plural(temporary.length, "allocation")}`;
  const parts = [`${what} by offset and program order`, ...inBands];
  return `Buffer allocation timeline: ${parts.join("; ")}. The table lists those live at the chosen step.`;
}

/** How many blocks a frame drew. */
export function drawnWords({ visible, merged }, { count, bands }, folded) {
  const inBars = bands.reduce((sum, { lane }) => sum + (folded.has(lane.key) ? lane.count : 0), 0);
  const parts = [visible === count - inBars ? plural(count, "block") : `${pluralOf(visible, count, "block")} in view`];
  if (inBars > 0) parts.push(`${groupDigits(inBars)} folded`);
  if (merged > 0) parts.push(`${groupDigits(merged)} under a pixel merged`);
  return parts.join(", ");
}

/** What has no place in the timeline. @param {any} totals */
export function leftOutWords(totals, blocks, unit) {
  const parts = [];
  const unknown = totals.total_allocation_bytes - blocks.height;
  if (unknown !== 0) parts.push(`${formatSize(unknown, unit)} of the total in no allocation`);
  if (totals.thread_local_bytes > 0)
    parts.push(`thread-local ${formatSize(totals.thread_local_bytes, unit)}, in no total, left out`);
  return parts.join("; ");
}
