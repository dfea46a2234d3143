// @ts-check
// The one plan: what to change so that it fits, what each step brings, the code of each change, and what else there is.
import { fitWords, nameOfChange } from "../../../base/change_names.js";
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { formatSize } from "../../../base/format.js";
import { chosenPlan, nearestText, plansOf } from "../../../base/waterfall.js";
import { planChoice, waterfallChart } from "../../../base/waterfall_chart.js";
import { copyable } from "../../../shell/messages.js";
import { part } from "./part.js";

/**
 * None without a program at hand, or where it fits. `kinds` keeps which plan was chosen of which message.
 * @param {any} message @param {number | null} capacity @param {{kinds: Map<string, string>, mode: string}} context
 */
export function planNode(message, capacity, context) {
  const { kinds, mode } = context;
  const { plan } = message;
  if (!plan?.is_needed) return null;
  const plans = plansOf(message);
  const misses = plan.fits ? [] : [el("p", { class: "note oom-misses" }, missesText(message, mode))];
  if (plans.length === 0) return part("The plan", ...misses);
  const content = el("div", {});

  const key = `${message.line} ${message.module}`;

  function show(kind) {
    kinds.set(key, kind);
    const chosen = chosenPlan(plans, kind);
    content.replaceChildren(...contentOf(chosen, plans, show, { message, capacity, mode }));
    content.querySelector("input:checked")?.focus();
  }

  content.append(...contentOf(chosenPlan(plans, kinds.get(key)), plans, show, { message, capacity, mode }));
  return part("The plan", ...misses, content);
}

function missesText(message, mode) {
  const near = message.nearest ? ` The nearest is ${nearestText(message, mode)}` : "";
  return `No set of these changes fits.${near}`;
}

function contentOf(plan, plans, show, { message, capacity, mode }) {
  const steps = plan.interventions.map((id) => stepOf(id, plan, message));
  const today = message.joined?.totals.total_allocation_bytes ?? 0;
  return [
    el("p", { class: "oom-plan" }, ...steps.map(chip), figures(plan, mode)),
    planChoice(plans, plan, show, `plan-of-line-${message.line}`),
    el("div", { class: "oom-plan-steps" }, waterfallChart(plan, { today, capacity, mode })),
    ...steps.map(({ code }) => (code ? copyable(code, "copy the code") : null)),
  ].filter((node) => node !== null);
}

/** A change as the plan makes it, which may be in other parts than by itself. */
function stepOf(id, plan, message) {
  const fix = message.fixes.find((one) => one.id === id);
  const step = plan.steps?.find((one) => one.id === id);
  return { id, ways: fix?.ways, name: step?.name ?? fix?.name, code: step?.code ?? fix?.how };
}

function chip(step) {
  return el("span", { class: "oom-chip" }, nameOfChange(step));
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
