// @ts-check
// What to change, ranked: bytes where they are known, whether results change, and the code to write.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { copyable } from "../../../shell/messages.js";
import { nameOfChange } from "../../memory_viewer/data/advice.js";
import { numericsNode } from "../../memory_viewer/views/advice_parts.js";
import { rankedFixes } from "../data/fixes.js";

export function fixesNode(message, mode) {
  const fixes = rankedFixes(message);
  if (fixes.length === 0) return null;
  return el(
    "section",
    { class: "oom-part" },
    el("h3", {}, "What to change"),
    el("ol", { class: "oom-fixes" }, ...fixes.map((fix) => fixNode(fix, mode))),
  );
}

function fixNode(fix, mode) {
  return el(
    "li",
    { data: { fix: fix.id ?? "" } },
    el(
      "div",
      { class: "oom-fix-head" },
      fix.id ? el("strong", {}, nameOfChange(fix.id)) : null,
      savesNode(fix, mode),
      numericsNode(fix.changesNumerics),
    ),
    el("p", {}, fix.text),
    fix.how ? copyable(fix.how, "copy the code") : null,
  );
}

function savesNode(fix, mode) {
  if (fix.savesBytes === null) return null;
  return el("span", { class: "oom-saves" }, "saves ", sizeFigure(fix.savesBytes, mode));
}
