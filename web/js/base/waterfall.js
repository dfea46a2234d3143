// @ts-check
/**
 * Plans of changes, and what each of their steps brings. Pure.
 *
 *     today           [############################]  52.9          |
 *     rematerialize   [###########]-----------------  20.2  -32.7   |
 *     halve the batch [######]-----                   11.0   -9.2   |
 *                                                           capacity
 */
import { nameOfChange, namesOfPlan } from "./change_names.js";
import { figureIn, formatSize, pickUnit, sizeIn } from "./format.js";

const KIND_NAMES = {
  plan: "the plan",
  without_sharding: "without sharding",
  same_numerics: "with the same numerics",
  same_speed: "as fast as today",
  fewer_changes: "with fewer changes",
  cheaper: "gentler, if it fits",
  more_room: "with more room",
  nearest: "the nearest",
};

/**
 * What there is to choose from: the plan and what stands beside it; where none fits, the set that comes nearest; where
 * none is needed, what often goes together. Each with its `kind`, which the address can keep, and a `title`.
 * @param {{plan?: any, alternatives?: any[], chains?: any[], nearest?: any}} reply
 */
export function plansOf({ plan, alternatives = [], chains = [], nearest = null }) {
  if (plan?.fits && plan.interventions.length > 0) {
    return [{ ...plan, kind: "plan" }, ...alternatives].map((one) => ({
      ...one,
      title: KIND_NAMES[one.kind] ?? one.kind,
      isChain: false,
    }));
  }
  if (plan?.is_needed) {
    const near = { kind: "nearest", title: KIND_NAMES.nearest, isChain: false };
    return nearest ? [{ ...nearest, ...near }] : [];
  }
  return chains.map((one) => ({
    ...one,
    kind: one.interventions.join("+"),
    title: namesOfPlan(one),
    isChain: true,
  }));
}

/** "1.10 GiB too much; TPU v5p would hold it", and over how many chips it would fit. */
export function nearestText({ nearest, least_ways: least = null }, mode = "auto") {
  const holding = nearest.held_by?.length ? `; ${nearest.held_by.join(", ")} would hold it` : "";
  const chips = least === null ? "" : ` Divided over chips it takes at least ${least.ways} (reasoned, not compiled).`;
  return `${formatSize(nearest.over_bytes, mode)} too much${holding}.${chips}`;
}

/** The plan of that kind, or the first. */
export function chosenPlan(plans, kind) {
  return plans.find((plan) => plan.kind === kind) ?? plans[0] ?? null;
}

/** @returns {any[]} today, and each step with the total `before` it */
export function waterfallRows(plan, today) {
  const rows = (plan.steps ?? []).map((step) => ({
    ...step,
    title: nameOfChange(step),
    before: step.predicted_total_bytes + step.saves_bytes,
  }));
  return [{ id: null, title: "Today", predicted_total_bytes: today, before: today, saves_bytes: null }, ...rows];
}

/** What bars of the rows are drawn to. @param {number | null} capacity */
export function waterfallScale(rows, capacity) {
  const ends = rows.flatMap((row) => [row.predicted_total_bytes, row.before, row.high_bytes ?? 0]);
  return Math.max(1, capacity ?? 0, ...ends);
}

/** How a row's range lies to the capacity, as the server says it of a change; null where no capacity was told. */
export function fitOfRow({ predicted_total_bytes: total, low_bytes: low = total, high_bytes: high = total }, capacity) {
  if (capacity === null) return null;
  if (high <= capacity) return "fits";
  return low <= capacity ? "may_fit" : "too_big";
}

/** The rows as lines of text, in columns. */
export function waterfallText(rows, capacity, mode = "auto") {
  const unit = pickUnit(rows[0].predicted_total_bytes, mode);
  const cells = rows.map((row) => [row.title, sizeIn(row.predicted_total_bytes, unit), savedText(row, unit)]);
  if (capacity !== null) cells.push(["Capacity", sizeIn(capacity, unit), ""]);
  const widths = [0, 1].map((column) => Math.max(...cells.map((cell) => cell[column].length)));
  return cells
    .map(([title, total, rest]) => `${title.padEnd(widths[0])}  ${total.padStart(widths[1])}  ${rest}`.trimEnd())
    .join("\n");
}

function savedText({ saves_bytes: saves, low_bytes: low, high_bytes: high }, unit) {
  if (saves === null) return "";
  return `${saves < 0 ? "+" : "-"}${sizeIn(Math.abs(saves), unit)} (${rangeText(low, high, unit)})`;
}

export function rangeText(low, high, unit) {
  return `${figureIn(low, unit)} to ${sizeIn(high, unit)}`;
}

/** "capacity 15.75 GiB, the dashed line" @param {number | null} capacity */
export function capacityText(capacity, mode) {
  return capacity === null ? "" : `capacity ${formatSize(capacity, mode)}, the dashed line`;
}
