// @ts-check
/**
 * Times as text. Inside the page a time is always picoseconds; here, at the edge, it gets its unit. A moment (a place
 * on the time axis) is told in ms, as XProf tells it; a duration in the largest unit that keeps the figure above one.
 * @typedef {{name: string, ps: number}} TimeUnit
 */
import { groupDigits } from "./format.js";

export const PS_PER_MS = 1e9;

/** @type {TimeUnit[]} */
const UNITS = [
  { name: "s", ps: 1e12 },
  { name: "ms", ps: PS_PER_MS },
  { name: "µs", ps: 1e6 },
  { name: "ns", ps: 1e3 },
  { name: "ps", ps: 1 },
];

/** The bare figure in ms: "1 234.567". */
export function figureInMs(ps, digits = 3) {
  return figureIn(ps / PS_PER_MS, digits);
}

/** "38.404 ms" */
export function formatMs(ps, digits = 3) {
  return `${figureInMs(ps, digits)} ms`;
}

/** "1.50 s", "820 ns" */
export function formatDuration(ps) {
  const unit = UNITS.find((one) => Math.abs(ps) >= one.ps) ?? UNITS[UNITS.length - 1];
  const value = ps / unit.ps;
  const size = Math.abs(value);
  const digits = unit.ps === 1 || size >= 100 ? 0 : size >= 10 ? 1 : 2;
  return `${figureIn(value, digits)} ${unit.name}`;
}

/** As many decimals of a millisecond as tell two ticks apart that are `stepPs` from each other. */
export function msDigits(stepPs) {
  return Math.max(0, Math.min(9, Math.ceil(-Math.log10(stepPs / PS_PER_MS) - 1e-9)));
}

/** For tooltips: "38 404 225 000 ps". */
export function exactTime(ps) {
  return `${groupDigits(ps)} ps`;
}

function figureIn(value, digits) {
  const [whole, rest] = Math.abs(value).toFixed(digits).split(".");
  const isNegative = value < 0 && Number(`${whole}.${rest ?? 0}`) > 0;
  return `${isNegative ? "-" : ""}${groupDigits(Number(whole))}${rest ? `.${rest}` : ""}`;
}
