// @ts-check
/**
 * What changing the program would bring, as the server predicts it by replaying the heap: the changes that apply, the
 * most bytes first, and the smallest set of them that fits. Pure.
 *
 *     today     [##############################]         |
 *     predicted [################]                       |      saves 5.2 GiB
 *                            |--+--|   low to high       capacity
 */
import { nameOfChange } from "../../../base/change_names.js";
import { formatSize } from "../../../base/format.js";

/** Beside what the reply tells of it, a change has its `name`, and whether it `fits` and `isPlanned`. */
export function adviceOf(reply) {
  const capacity = reply.capacity_bytes > 0 ? reply.capacity_bytes : null;
  const planned = reply.plan?.interventions ?? [];
  const changes = reply.interventions.map((one) => ({
    ...one,
    name: nameOfChange(one.id) + detailOf(one),
    fits: capacity === null ? null : one.predicted_total_bytes <= capacity,
    isPlanned: planned.includes(one.id),
  }));
  const applying = changes.filter((one) => one.applies).sort((a, b) => b.saves_bytes - a.saves_bytes);
  return {
    ...reply,
    capacity,
    applying,
    others: changes.filter((one) => !one.applies),
    plan: { ...reply.plan, ids: planned, state: planState(reply, capacity, planned) },
    scale: Math.max(1, reply.total_bytes, capacity ?? 0, ...applying.map((one) => one.high_bytes)),
  };
}

function detailOf({ ways, dimension }) {
  if (ways > 1) return `, ${ways} chips`;
  return dimension ? `, ${dimension.from} → ${dimension.to}` : "";
}

function planState({ plan, total_bytes: total }, capacity, ids) {
  if (capacity === null) return "unknown";
  if (total <= capacity) return "fits";
  if (!plan || ids.length === 0) return "none";
  return plan.fits ? "found" : "short";
}

/** The plan in one sentence. */
export function planSentence(advice, mode = "auto") {
  const size = (bytes) => formatSize(bytes, mode);
  const { plan, capacity, total_bytes: total } = advice;
  if (plan.state === "unknown") return "Say what the device has, and the smallest set of changes that fits is found.";
  if (plan.state === "fits") return `Fits as it is: ${size(total)} of ${size(capacity)}.`;
  if (plan.state === "none") return `None of these changes brings ${size(total)} down to ${size(capacity)}.`;
  const names = plan.ids.map((id) => lowerFirst(nameOfChange(id))).join(" + ");
  const result = `${names} → ${size(plan.predicted_total_bytes)}`;
  return plan.state === "found"
    ? `Smallest set that fits ${size(capacity)}: ${result}.`
    : `Nothing here fits ${size(capacity)}. The most together: ${result}.`;
}

function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** "4" -> 4; what is no count of at least `least` is null. */
export function parseCount(text, least) {
  const value = /^\s*\d{1,9}\s*$/.test(text ?? "") ? Number(text) : NaN;
  return value >= least ? value : null;
}
