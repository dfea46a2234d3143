// @ts-check
// Every change by itself: a line with its bytes, which opens to what it means and the code to write.
import { fitWords, nameOfChange } from "../../../base/change_names.js";
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { formatSize } from "../../../base/format.js";
import { numericsNode } from "../../../base/numerics.js";
import { copyable } from "../../../shell/messages.js";
import { rankedFixes } from "../data/fixes.js";
import { adviceParams } from "../data/links.js";
import { appLink } from "./app_link.js";
import { part } from "./part.js";

export function fixesNode(message, context) {
  const planned = message.plan?.interventions ?? [];
  const fixes = rankedFixes(message).filter((fix) => !planned.includes(fix.id));
  if (fixes.length === 0) return null;
  const params = message.joined?.is_same_size === false ? null : adviceParams(message, context.capacity);
  return part(
    planned.length > 0 ? "Other changes, each alone" : "What to change",
    el("ol", { class: "oom-fixes" }, ...fixes.map((fix) => fixNode(fix, context.mode))),
    el(
      "p",
      { class: "oom-links" },
      params ? appLink("All advice", params, context.follow, "This program's advice in the Memory Viewer") : null,
      excludedNode(message.excluded ?? []),
    ),
  );
}

function fixNode(fix, mode) {
  return el(
    "li",
    { data: { fix: fix.id } },
    el(
      "details",
      {},
      el(
        "summary",
        { class: "oom-fix-head" },
        el("strong", {}, nameOfChange(fix)),
        savesNode(fix, mode),
        fix.changes_numerics ? numericsNode(true) : null,
      ),
      el("p", {}, fix.text),
      ...(fix.evidence ?? []).map((text) => el("p", { class: "note" }, text)),
      fix.how ? copyable(fix.how, "copy the code") : null,
    ),
  );
}

function savesNode(fix, mode) {
  if (fix.saves_bytes === null) return null;
  const range = `(${formatSize(fix.low_bytes, mode)} to ${formatSize(fix.high_bytes, mode)})`;
  const total = sizeFigure(fix.predicted_total_bytes, mode);
  return el(
    "span",
    { class: "oom-saves" },
    "saves ",
    sizeFigure(fix.saves_bytes, mode),
    el("span", { class: "oom-then" }, " → ", total, ` ${range} ${fitWords(fix.fit)}`),
  );
}

function excludedNode(excluded) {
  if (excluded.length === 0) return null;
  const rows = excluded.map((one) => el("div", {}, el("dt", {}, nameOfChange(one)), el("dd", {}, one.why)));
  const summary = el("summary", {}, `${excluded.length} that would not help here or cannot be told, and why`);
  return el("details", { class: "advice-others" }, summary, el("dl", {}, ...rows));
}
