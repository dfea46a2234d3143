// @ts-check
// What stands behind the headline, a click away: XProf's "Memory Profile Summary" with true figures, what it lacks
// beside it, and the notes.
import { el } from "../../../base/dom.js";
import { createFold } from "../../../base/fold.js";
import { formatSize } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { xprofTag } from "../../../base/xprof_tag.js";
import { summaryLines } from "../data/summary.js";

/** @param {any} state @param {HTMLElement[]} more that stands with the figures */
export function createSummary(state, memory, notes, more) {
  const columns = summaryLines(memory);
  const lists = columns.map(() => el("dl", { class: "profile-facts" }));
  const facts = createFold(
    "facts",
    "facts",
    el(
      "section",
      { class: "facts-body", "aria-label": "Memory Profile Summary" },
      el("div", { class: "profile-summary" }, ...lists),
      ...more,
    ),
  );
  const lines = notes.map((note) => el("p", { class: "note" }, note));
  const told = createFold(
    "notes",
    `notes (${notes.length})`,
    el("section", { class: "notes-body", "aria-label": "notes" }, ...lines),
  );
  const folds = notes.length > 0 ? [facts, told] : [facts];

  function show() {
    const { unit } = state.get();
    lists.forEach((list, i) => list.replaceChildren(...columns[i].flatMap((line) => lineNodes(line, unit))));
  }

  const stop = state.watch(["unit"], show);
  show();
  return { openers: folds.map((fold) => fold.opener), bodies: folds.map((fold) => fold.body), dispose: stop };
}

function lineNodes(line, unit) {
  const title = line.title ?? (line.note ? `${line.label} ${line.note}` : null);
  return [
    el("dt", { class: "ellipsis", title }, line.label, noteNode(line)),
    el("dd", { data: { line: line.id }, title: line.title ?? null }, figure(line, unit), tagOf(line.xprof, unit)),
  ];
}

function noteNode({ note }) {
  return note ? el("span", { class: "unit" }, ` ${note}`) : null;
}

function figure(line, unit) {
  if (line.text !== undefined) return el("span", { class: "figure" }, line.text);
  return line.bytes === null || line.bytes === undefined ? "not told" : sizeFigure(line.bytes, unit);
}

function tagOf(xprof, unit) {
  return xprof ? xprofTag(xprof.text ?? formatSize(xprof.bytes, unit), xprof.why) : null;
}
