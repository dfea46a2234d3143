// @ts-check
// Values along an axis, and the ticks of sizes and times. Pure.
import { pickAxisUnit, tickText } from "./format.js";
import { niceStep, span, ticks } from "./range.js";

const WIDE_LABEL = 9; // "15.89 MiB"

export function toPixel(value, r, width) {
  return ((value - r.begin) / span(r)) * width;
}

/** Byte ticks that are round in `unit`. */
export function byteTicks(r, height, unit) {
  const rough = span(r) / unit.bytes / Math.max(1, height / 44);
  return ticks(r, 0, niceStep(rough) * unit.bytes);
}

/**
 * The ticks of a range with what they are called. Very close up that takes many digits: with automatic units, the unit
 * that needs the fewest.
 * @returns {{bytes: number, text: string}[]}
 */
export function byteLabels(r, height, mode) {
  let unit = pickAxisUnit(r.end, mode);
  let best = labelsIn(r, height, unit);
  while (mode === "auto" && widest(best) > WIDE_LABEL && unit.bytes > 1) {
    unit = pickAxisUnit(unit.bytes / 1024);
    const labels = labelsIn(r, height, unit);
    if (widest(labels) < widest(best)) best = labels;
  }
  return best;
}

function labelsIn(r, height, unit) {
  const digits = byteTickDigits(r, unit);
  return byteTicks(r, height, unit).map((bytes) => ({ bytes, text: tickText(bytes, unit, digits) }));
}

const widest = (labels) => Math.max(0, ...labels.map(({ text }) => text.length));

/** As many decimals of `unit` as tell the ticks of a range apart. */
export function byteTickDigits(r, unit) {
  return unit.bytes === 1 ? 0 : Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(span(r) / unit.bytes))));
}
