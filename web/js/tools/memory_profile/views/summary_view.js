// @ts-check
// "Memory Profile Summary": XProf's card with true figures, what it lacks beside it, and the notes.
import { el } from "../../../base/dom.js";
import { formatSize } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { xprofTag } from "../../../base/xprof_tag.js";
import { summaryLines } from "../data/summary.js";

/** @param {HTMLElement} other the line that leads to the other tool */
export function createSummary(state, memory, notes, other) {
  const columns = summaryLines(memory);
  const lists = columns.map(() => el("dl", { class: "profile-facts" }));
  const node = el(
    "section",
    { "aria-label": "Memory Profile Summary" },
    el("div", { class: "profile-summary" }, ...lists),
    aboutNode(notes, other),
  );

  function show() {
    const { unit } = state.get();
    lists.forEach((list, i) => list.replaceChildren(...columns[i].flatMap((line) => lineNodes(line, unit))));
  }

  const stop = state.watch(["unit"], show);
  show();
  return { node, dispose: stop };
}

/** The notes are a click away: the chart comes first. */
function aboutNode(notes, other) {
  const lines = notes.map((note) => el("p", { class: "note" }, note));
  const details = el("details", { class: "profile-notes" }, el("summary", {}, `Notes (${notes.length})`), ...lines);
  return el("div", { class: "profile-about" }, other, notes.length ? details : null);
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
