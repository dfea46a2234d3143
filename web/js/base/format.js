// @ts-check
/**
 * Sizes as text. Inside the page a size is always a number of bytes; here, at the edge, it gets its unit.
 * Mode is what the user chose: "auto" picks the largest unit that keeps the figure above one.
 * @typedef {{name: string, bytes: number, digits: number}} Unit
 */

/** @type {Unit[]} */
const UNITS = [
  { name: "TiB", bytes: 2 ** 40, digits: 2 },
  { name: "GiB", bytes: 2 ** 30, digits: 2 },
  { name: "MiB", bytes: 2 ** 20, digits: 2 },
  { name: "KiB", bytes: 2 ** 10, digits: 2 },
  { name: "B", bytes: 1, digits: 0 },
];

export const UNIT_MODES = ["auto", "bytes", "MiB", "GiB"];

const NARROW_SPACE = "\u202f";

/** The unit for a column whose largest value is `maxBytes`. @returns {Unit} */
export function pickUnit(maxBytes, mode = "auto") {
  if (mode === "bytes") return unitNamed("B");
  if (mode === "MiB" || mode === "GiB") return unitNamed(mode);
  const size = Math.abs(maxBytes);
  return UNITS.find((unit) => size >= unit.bytes) ?? unitNamed("B");
}

const MOST_IN_COLUMN = 10000; // four digits before the point read well

/**
 * One unit for a column of sizes: with automatic units no larger than its largest needs to read well, since most rows
 * are small. @returns {Unit}
 */
export function pickColumnUnit(maxBytes, mode = "auto") {
  const size = Math.abs(maxBytes);
  if (mode !== "auto" || size < 2 ** 30) return pickUnit(maxBytes, mode);
  const units = ["MiB", "GiB"].map(unitNamed);
  return units.find((unit) => size < MOST_IN_COLUMN * unit.bytes) ?? unitNamed("TiB");
}

function unitNamed(name) {
  return /** @type {Unit} */ (UNITS.find((unit) => unit.name === name));
}

/** The bare figure in a unit, for a place that names the unit beside it. */
export function figureIn(bytes, unit) {
  if (unit.bytes === 1) return groupDigits(Math.round(bytes));
  const value = bytes / unit.bytes;
  const smallest = 10 ** -unit.digits;
  if (bytes !== 0 && Math.abs(value) < smallest / 2) return `<${smallest}`;
  return value.toFixed(unit.digits);
}

export function sizeIn(bytes, unit) {
  return `${figureIn(bytes, unit)} ${unit.name}`;
}

const MOST_ON_AXIS = 100000; // more digits would lie over the name of the axis

/** The unit of an axis: exact bytes, or very many MiB, would not fit beside it. */
export function pickAxisUnit(maxBytes, mode = "auto") {
  const unit = pickUnit(maxBytes, mode === "bytes" ? "auto" : mode);
  return maxBytes < MOST_ON_AXIS * unit.bytes ? unit : pickUnit(maxBytes);
}

/** A tick without trailing zeros; `digits` are as many decimals as tell two ticks apart. */
export function tickText(bytes, unit, digits) {
  return `${Number((bytes / unit.bytes).toFixed(digits))} ${unit.name}`;
}

export function formatSize(bytes, mode = "auto") {
  return sizeIn(bytes, pickUnit(bytes, mode));
}

/** "56 802 019 840 B", for tooltips. */
export function exactBytes(bytes) {
  return `${groupDigits(bytes)} B`;
}

export function groupDigits(value) {
  return digitGroups(value).join(NARROW_SPACE);
}

/** The decimal digits in groups of three, most significant first; a sign stays with the first. */
export function digitGroups(value) {
  const digits = String(Math.trunc(Math.abs(value)));
  const groups = [];
  for (let end = digits.length; end > 0; end -= 3) groups.unshift(digits.slice(Math.max(0, end - 3), end));
  if (value < 0) groups[0] = `-${groups[0]}`;
  return groups;
}

export function formatPercent(fraction, digits = 1) {
  return `${(100 * fraction).toFixed(digits)} %`;
}

export function plural(count, noun) {
  return `${groupDigits(count)} ${noun}${count === 1 ? "" : "s"}`;
}

/** Of a list that a search may have cut: "3 of 1 204 buffers". */
export function pluralOf(kept, all, noun) {
  return kept === all ? plural(all, noun) : `${groupDigits(kept)} of ${plural(all, noun)}`;
}
