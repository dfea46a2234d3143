// @ts-check
// The one plan: what to change so that it fits, its total with the range to scale, and the code of each change.
import { fitWords, nameOfChange, namesOfPlan } from "../../../base/change_names.js";
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { formatSize } from "../../../base/format.js";
import { barPiece, capacityMark } from "../../../base/scaled_bar.js";
import { copyable } from "../../../shell/messages.js";
import { part } from "./part.js";

/** None without a program at hand, or where it fits. */
export function planNode(message, capacity, mode) {
  const { plan } = message;
  if (!plan?.is_needed) return null;
  if (!plan.fits) return part("The plan", el("p", { class: "oom-plan" }, "No set of these changes fits."));
  const chips = plan.interventions.map((id) => chip(id, message));
  return part(
    "The plan",
    el("p", { class: "oom-plan" }, ...chips, figures(plan, mode)),
    barNode(plan, capacity, mode),
    ...plan.interventions.map((id) => codeOf(id, message)),
    otherNode(message.plan_without_sharding, mode),
  );
}

function otherNode(other, mode) {
  if (!other) return null;
  return el("p", { class: "oom-other-plan" }, `Without sharding: ${namesOfPlan(other)}, `, figures(other, mode));
}

const fixOf = (id, message) => message.fixes.find((fix) => fix.id === id);

function chip(id, message) {
  return el("span", { class: "oom-chip" }, nameOfChange(fixOf(id, message) ?? { id }));
}

function codeOf(id, message) {
  const how = fixOf(id, message)?.how;
  return how ? copyable(how, "copy the code") : null;
}

function figures(plan, mode) {
  const range = `${formatSize(plan.low_bytes, mode)} to ${formatSize(plan.high_bytes, mode)}`;
  return el(
    "span",
    { class: "oom-plan-total" },
    "about ",
    sizeFigure(plan.predicted_total_bytes, mode),
    ` in all (${range}): ${fitWords(plan.fit)}.`,
  );
}

/** Striped where the range crosses the capacity; the range as a whisker. */
function barNode({ predicted_total_bytes: total, low_bytes: low, high_bytes: high, fit }, capacity, mode) {
  const scale = Math.max(high, capacity ?? 0);
  return el(
    "div",
    { class: "advice-track oom-plan-bar" },
    barPiece(fit === "may_fit" ? "advice-bar may" : "advice-bar", total, scale, { from: 0 }),
    barPiece("advice-whisker", high - low, scale, { from: low }),
    capacityMark(capacity, scale, mode),
  );
}
