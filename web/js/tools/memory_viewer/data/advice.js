// @ts-check
/**
 * What changing the program would bring, as the server predicts it by replaying the heap: the changes that apply, the
 * most bytes first, and the plan: those that together fit. Pure.
 *
 *     today     [##############################]         |
 *     predicted [################]                       |      saves 5.2 GiB
 *                            |--+--|   low to high       capacity
 */
import { column } from "../../../base/column.js";
import { fitWords, nameOfChange, namesOfPlan } from "../../../base/change_names.js";
import { formatSize } from "../../../base/format.js";
import { chosenPlan, nearestText, plansOf } from "../../../base/waterfall.js";

/**
 * Beside what the reply tells of it, a change has its `title`, whether it `isPlanned`, and whether it `isUntold`: too
 * little of the program is understood, and its figures are null. `plans` are there to choose from, `chosen` is the one
 * of `kind`, or the first.
 */
export function adviceOf(reply, kind = null) {
  const capacity = reply.capacity_bytes > 0 ? reply.capacity_bytes : null;
  const plans = plansOf(reply);
  const chosen = chosenPlan(plans, kind);
  const plan = chosen && !chosen.isChain ? chosen : reply.plan;
  const planned = plan?.interventions ?? [];
  const stepOf = (one) => plan?.steps?.find(({ id }) => id === one.id);
  const changes = reply.interventions.map((one) => changeOf(one, stepOf(one), planned));
  const applying = changes.filter((one) => one.applies).sort((a, b) => b.saves_bytes - a.saves_bytes);
  return {
    ...reply,
    capacity,
    plans,
    chosen,
    applying,
    others: changes.filter((one) => !one.applies && !one.isUntold),
    untold: changes.filter((one) => one.isUntold),
    plan: { ...plan, ids: planned, state: planState(reply, capacity, planned) },
    scale: Math.max(1, reply.total_bytes, capacity ?? 0, ...applying.map((one) => one.high_bytes)),
  };
}

/** The figures are of the change alone, the code is what its `step` of the plan wants. */
function changeOf(one, step, planned) {
  return {
    ...one,
    title: nameOfChange(one) + detailOf(one) + otherwiseIn(step, one),
    code: step?.code ?? one.code,
    isPlanned: planned.includes(one.id),
    isUntold: one.predicted_total_bytes === null,
  };
}

const figure = (key, csv) => column(key, csv, "size", key, { csv });

export const ADVICE_COLUMNS = [
  column("id", "Id", "text", "id", { csv: "Id" }),
  column("title", "Change", "text", "title", { csv: "Change" }),
  column("applies", "Applies", "text", "applies", { csv: "Applies" }),
  column("plan", "In the plan", "text", "isPlanned", { csv: "InPlan" }),
  figure("predicted_total_bytes", "PredictedTotalBytes"),
  figure("low_bytes", "LowBytes"),
  figure("high_bytes", "HighBytes"),
  figure("saves_bytes", "SavesBytes"),
  column("understood", "Understood", "text", "understood", { csv: "Understood" }),
  column("fit", "Fit", "text", (one) => fitWords(one.fit), { csv: "Fit" }),
  column("numerics", "Changes numerics", "text", "changes_numerics", { csv: "ChangesNumerics" }),
  column("evidence", "Evidence", "text", (one) => one.evidence.join("; "), { csv: "Evidence" }),
];

function detailOf({ dimension }) {
  return dimension ? `, ${dimension.from} → ${dimension.to}` : "";
}

function otherwiseIn(step, { parts }) {
  return step?.parts && step.parts !== parts ? `, ${step.parts} in the plan` : "";
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
  if (plan.state === "unknown") return "Say what the device has, and the plan that fits it is found.";
  if (plan.state === "fits") return `Fits as it is: ${size(total)} of ${size(capacity)}.`;
  if (plan.state === "none") return `None of these changes brings ${size(total)} down to ${size(capacity)}.`;
  const result = planText(plan, mode);
  const title = plan.title ?? "the plan";
  return plan.state === "found"
    ? `${title.charAt(0).toUpperCase()}${title.slice(1)}: ${result}, ${fitWords(plan.fit) || "fits"} ${size(capacity)}.`
    : `Nothing here fits ${size(capacity)}. The most together: ${result}.${nearText(advice, mode)}`;
}

function nearText(advice, mode) {
  return advice.nearest ? ` That is ${nearestText(advice, mode)}` : "";
}

/** "rematerialize and halve the batch → 11.01 GiB (8.33 GiB to 13.54 GiB)" */
export function planText(plan, mode = "auto") {
  const size = (bytes) => formatSize(bytes, mode);
  const range = plan.high_bytes > plan.low_bytes ? ` (${size(plan.low_bytes)} to ${size(plan.high_bytes)})` : "";
  return `${namesOfPlan(plan)} → ${size(plan.predicted_total_bytes)}${range}`;
}

/** "4" -> 4; what is no count of at least `least` is null. */
export function parseCount(text, least) {
  const value = /^\s*\d{1,9}\s*$/.test(text ?? "") ? Number(text) : NaN;
  return value >= least ? value : null;
}
