// @ts-check
/**
 * What changing the program would bring, as the server predicts it by replaying the heap: the changes that apply, the
 * most bytes first, and the smallest set of them that fits. Pure.
 *
 *     today     [##############################]         |
 *     predicted [################]                       |      saves 5.2 GiB
 *                            |--+--|   low to high       capacity
 *
 * @typedef {{id: string, name: string, totalBytes: number, peakBytes: number | null, lowBytes: number,
 *            highBytes: number, savesBytes: number, changesNumerics: boolean, evidence: string[], how: string,
 *            fits: boolean | null, isPlanned: boolean}} Change
 */
import { nameOfChange } from "../../../base/change_names.js";
import { formatSize } from "../../../base/format.js";

export function adviceOf(reply) {
  const capacity = reply.capacity_bytes > 0 ? reply.capacity_bytes : null;
  const planned = reply.plan?.interventions ?? [];
  const changes = reply.interventions.map((one) => changeOf(one, capacity, planned));
  const applies = new Map(reply.interventions.map((one, i) => [changes[i], one.applies]));
  const applying = changes.filter((change) => applies.get(change)).sort((a, b) => b.savesBytes - a.savesBytes);
  const highest = applying.reduce((most, change) => Math.max(most, change.highBytes, change.totalBytes), 0);
  return {
    capacity,
    totalBytes: reply.total_bytes,
    peakBytes: reply.peak_bytes,
    batch: reply.batch > 0 ? reply.batch : null,
    applying,
    others: changes.filter((change) => !applies.get(change)),
    plan: planOf(reply, capacity, planned),
    notCounted: [reply.not_counted ?? []].flat(),
    scale: Math.max(1, reply.total_bytes, capacity ?? 0, highest),
  };
}

function changeOf(one, capacity, planned) {
  return {
    id: one.id,
    name: nameOfChange(one.id) + detailOf(one),
    totalBytes: one.predicted_total_bytes,
    peakBytes: one.predicted_peak_bytes ?? null,
    lowBytes: one.low_bytes ?? one.predicted_total_bytes,
    highBytes: one.high_bytes ?? one.predicted_total_bytes,
    savesBytes: one.saves_bytes ?? 0,
    changesNumerics: one.changes_numerics === true,
    evidence: one.evidence ?? [],
    how: one.how ?? "",
    fits: capacity === null ? null : one.predicted_total_bytes <= capacity,
    isPlanned: planned.includes(one.id),
  };
}

function detailOf({ ways, dimension }) {
  if (ways > 1) return `, ${ways} chips`;
  return dimension ? `, ${dimension.from} → ${dimension.to}` : "";
}

function planOf(reply, capacity, ids) {
  const { plan } = reply;
  const total = plan?.predicted_total_bytes ?? null;
  const state = planState(reply, capacity, ids);
  return {
    state,
    ids,
    totalBytes: total,
    lowBytes: plan?.low_bytes ?? null,
    highBytes: plan?.high_bytes ?? null,
  };
}

function planState({ plan, total_bytes: total }, capacity, ids) {
  if (capacity === null) return "unknown";
  if (total <= capacity) return "fits";
  if (!plan || ids.length === 0) return "none";
  return (plan.fits ?? plan.predicted_total_bytes <= capacity) ? "found" : "short";
}

/** The plan in one sentence. */
export function planSentence(advice, mode = "auto") {
  const size = (bytes) => formatSize(bytes, mode);
  const { plan, capacity, totalBytes } = advice;
  if (plan.state === "unknown") return "Say what the device has, and the smallest set of changes that fits is found.";
  if (plan.state === "fits") return `Fits as it is: ${size(totalBytes)} of ${size(capacity)}.`;
  if (plan.state === "none") return `None of these changes brings ${size(totalBytes)} down to ${size(capacity)}.`;
  const names = plan.ids.map((id) => lowerFirst(nameOfChange(id))).join(" + ");
  const range = plan.lowBytes === null ? "" : ` (${size(plan.lowBytes)} to ${size(plan.highBytes)})`;
  const result = plan.totalBytes === null ? "" : ` → ${size(plan.totalBytes)}${range}`;
  return plan.state === "found"
    ? `Smallest set that fits ${size(capacity)}: ${names}${result}.`
    : `Nothing here fits ${size(capacity)}. The most together: ${names}${result}.`;
}

function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** "4" -> 4; what is no count of at least `least` is null. */
export function parseCount(text, least) {
  const value = /^\s*\d{1,9}\s*$/.test(text ?? "") ? Number(text) : NaN;
  return value >= least ? value : null;
}
