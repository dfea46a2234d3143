// @ts-check
// What the memory is made of: one stacked bar, to scale, and its legend in figures.
import { shareText } from "../../../base/cells.js";
import { el } from "../../../base/dom.js";
import { formatSize, pickUnit } from "../../../base/format.js";
import { colored, sizeFigure, swatch } from "../../../base/figures.js";
import { barPiece, capacityMark, sizeTold } from "../../../base/scaled_bar.js";
import { compositionOf } from "../data/composition.js";

export function createComposition(state, view) {
  const bar = el("div", { class: "composition-bar", role: "img" });
  const legend = el("ul", { class: "legend" });
  const node = el("div", { class: "composition" }, bar, legend);
  const segments = compositionOf(view);
  const total = segments.reduce((sum, segment) => sum + segment.bytes, 0);

  function show() {
    const { unit, capacity } = state.get();
    const scale = Math.max(total, capacity ?? 0) || 1;
    bar.setAttribute("aria-label", summary(segments, unit));
    bar.replaceChildren(
      ...segments.filter((one) => one.bytes > 0).map((one) => segmentNode(one, scale, unit)),
      capacityMark(capacity, scale, unit) ?? "",
    );
    const column = pickUnit(total, unit);
    legend.replaceChildren(
      ...segments.filter((one) => one.bytes > 0).map((one) => legendRow(one, total, unit, column)),
    );
  }

  const stop = state.watch(["unit", "capacity"], show);
  show();
  return { node, dispose: stop };
}

function segmentNode(segment, scale, unit) {
  const title = `${segment.label}: ${sizeTold(segment.bytes, unit)}, ${segment.title}`;
  return colored(barPiece("segment", segment.bytes, scale, { title }), `cat-${segment.key}`);
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

function summary(segments, unit) {
  return `Memory by category: ${segments
    .filter((one) => one.bytes > 0)
    .map((one) => `${one.label} ${formatSize(one.bytes, unit)}`)
    .join(", ")}`;
}
