// @ts-check
// What stands behind the verdict, a click away: the overview in XProf's words, with XProf's own figure beside ours
// where they differ, what the memory is made of in figures, and the notes.
import { shareText } from "../../../base/cells.js";
import { el } from "../../../base/dom.js";
import { createFold } from "../../../base/fold.js";
import { formatSize, pickUnit } from "../../../base/format.js";
import { sizeFigure, swatch } from "../../../base/figures.js";
import { xprofTag } from "../../../base/xprof_tag.js";
import { compositionOf } from "../data/composition.js";
import { notesByWeight } from "../data/notes.js";
import { overviewLines } from "../data/overview.js";

/** XProf's advice, word for word. */
const ADVICE =
  "Modifying your model's architecture, batch size and data dimensions may help reduce the memory footprint.";

/** @param {HTMLElement} other the line that leads to the other tool */
export function createFacts(state, view, other) {
  const lines = overviewLines(view);
  const segments = compositionOf(view).filter((one) => one.bytes > 0);
  const total = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  const { main, small } = notesByWeight(view.notes ?? [], view.totals.total_allocation_bytes);
  const rows = el("dl", { class: "overview" });
  const legend = el("ul", { class: "legend" });
  const facts = createFold(
    "facts",
    "facts",
    el(
      "section",
      { class: "facts-body", "aria-label": "facts" },
      el(
        "div",
        { class: "facts-columns" },
        el("div", {}, el("p", { class: "module-line" }, `Module Name: ${view.module}`), rows),
        legend,
      ),
      ...noteNodes(small),
      other,
      el("p", { class: "note" }, ADVICE),
    ),
  );
  const notes = createFold(
    "notes",
    `notes (${main.length})`,
    el("section", { class: "notes-body", "aria-label": "notes" }, ...noteNodes(main)),
  );

  function show() {
    const { unit } = state.get();
    rows.replaceChildren(...lines.flatMap((one) => lineNodes(one, unit)));
    const column = pickUnit(total, unit);
    legend.replaceChildren(...segments.map((one) => legendRow(one, total, unit, column)));
  }

  const folds = main.length ? [facts, notes] : [facts];
  const stop = state.watch(["unit"], show);
  show();
  return { openers: folds.map((fold) => fold.opener), bodies: folds.map((fold) => fold.body), dispose: stop };
}

const noteNodes = (notes) => notes.map((note) => el("p", { class: "note" }, note));

function lineNodes(line, unit) {
  return [
    el("dt", { data: { line: line.id } }, sizeFigure(line.bytes, unit)),
    el("dd", {}, line.label, line.tail ? ` ${line.tail}` : "", tagOf(line, unit)),
  ];
}

function tagOf({ xprofBytes, why }, unit) {
  return xprofBytes === undefined ? null : xprofTag(formatSize(xprofBytes, unit), why, `${xprofBytes} bytes`);
}

function legendRow(segment, total, unit, column) {
  return el(
    "li",
    { title: segment.title },
    swatch(`cat-${segment.key}`),
    el("span", { class: "legend-label" }, segment.label),
    sizeFigure(segment.bytes, unit, vanishes(segment.bytes, column) && unit === "auto" ? undefined : column),
    el("span", { class: "figure share" }, shareText(segment.bytes / total)),
  );
}

/** Would read "<0.01" in the column's unit; with automatic units it gets its own. */
function vanishes(bytes, unit) {
  return bytes / unit.bytes < 0.005;
}
