// @ts-check
// Values along an axis, and the ticks of sizes and times. Pure.
import { niceStep, span, ticks } from "./range.js";

export function toPixel(value, r, width) {
  return ((value - r.begin) / span(r)) * width;
}

/** Byte ticks that are round in `unit`. */
export function byteTicks(r, height, unit) {
  const rough = span(r) / unit.bytes / Math.max(1, height / 44);
  return ticks(r, 0, niceStep(rough) * unit.bytes);
}

/** As many decimals of `unit` as tell the ticks of a range apart. */
export function byteTickDigits(r, unit) {
  return unit.bytes === 1 ? 0 : Math.max(0, Math.min(9, 2 - Math.floor(Math.log10(span(r) / unit.bytes))));
}
