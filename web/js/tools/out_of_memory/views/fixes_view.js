// @ts-check
// What to change, ranked: bytes where they are known, whether results change, and the code to write.
import { fitWords, nameOfChange, namesOfPlan } from "../../../base/change_names.js";
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { numericsNode } from "../../../base/numerics.js";
import { copyable } from "../../../shell/messages.js";
import { rankedFixes } from "../data/fixes.js";
import { part } from "./part.js";

export function fixesNode(message, mode) {
  const fixes = rankedFixes(message);
  if (fixes.length === 0) return null;
  return part(
    "What to change",
    planNode(message.plan ?? null, mode),
    el("ol", { class: "oom-fixes" }, ...fixes.map((fix) => fixNode(fix, mode))),
  );
}

/** What to do so that it fits, when the program is at hand and its capacity known. */
function planNode(plan, mode) {
  if (!plan?.is_needed) return null;
  if (!plan.fits) return el("p", { class: "oom-plan" }, "No set of changes that the program alone can tell of fits.");
  return el(
    "p",
    { class: "oom-plan" },
    el("strong", {}, namesOfPlan(plan)),
    ": about ",
    sizeFigure(plan.predicted_total_bytes, mode),
    ` in all, ${fitWords(plan.fit)}.`,
  );
}

function fixNode(fix, mode) {
  return el(
    "li",
    { data: { fix: fix.id } },
    el(
      "div",
      { class: "oom-fix-head" },
      el("strong", {}, nameOfChange(fix)),
      savesNode(fix, mode),
      numericsNode(fix.changes_numerics),
    ),
    el("p", {}, fix.text),
    fix.how ? copyable(fix.how, "copy the code") : null,
  );
}

function savesNode(fix, mode) {
  if (fix.saves_bytes === null) return null;
  return el("span", { class: "oom-saves" }, "saves ", sizeFigure(fix.saves_bytes, mode));
}
