// @ts-check
// What the memory is made of: one stacked bar, to scale, its figures in one line below. A click on a part shows its
// buffers in all charts.
import { button, el } from "../../../base/dom.js";
import { formatSize } from "../../../base/format.js";
import { colored, sizeFigure, swatch } from "../../../base/figures.js";
import { barPiece, capacityMark, sizeTold } from "../../../base/scaled_bar.js";
import { inFrame } from "../../../base/upkeep.js";
import { compositionOf, heldByCategory, mainParts } from "../data/composition.js";
import { queryOfCategory } from "../data/search.js";

export function createComposition(state, view) {
  const bar = el("div", { class: "composition-bar", role: "img", on: { click: onBar } });
  const line = el("div", { class: "composition-line", role: "group", "aria-label": "show the buffers of one type" });
  const node = el("div", { class: "composition" }, bar, line);
  const segments = compositionOf(view).filter((one) => one.bytes > 0);
  const total = segments.reduce((sum, segment) => sum + segment.bytes, 0);

  function show() {
    const { unit, capacity } = state.get();
    const scale = Math.max(total, capacity ?? 0) || 1;
    bar.setAttribute("aria-label", summary(segments, unit));
    bar.replaceChildren(
      ...segments.map((one) => segmentNode(one, scale, unit)),
      capacityMark(capacity, scale, unit) ?? "",
    );
    const { main, small } = mainParts(segments, total);
    line.replaceChildren(...main.map((one) => partNode(one, unit, toggle)), smallNode(small, unit) ?? "");
    mark();
    markHeld();
  }

  /** The part of each piece that the group under the mouse, else the pinned one, holds at the step in sight. */
  function markHeld() {
    const { held, step } = state.get();
    const bytes = held && heldByCategory(state.model, held.rows, step);
    for (const one of segments) {
      const part = bar.querySelector(`[data-part="${one.key}"] .held-part`);
      const share = Math.min(1, (bytes?.get(one.key) ?? 0) / one.bytes);
      if (part) part.style.width = `${100 * share}%`;
    }
  }

  function onBar(event) {
    const key = event.target.closest?.("[data-part]")?.dataset.part;
    if (key) toggle(key);
  }

  function toggle(key) {
    const query = queryOfCategory(key);
    state.actions.search(state.get().query === query ? "" : query);
  }

  function mark() {
    const { query } = state.get();
    for (const one of line.querySelectorAll("button"))
      one.setAttribute("aria-pressed", String(query === queryOfCategory(one.dataset.part)));
  }

  const stops = [
    state.watch(["unit", "capacity"], show),
    state.watch(["query"], mark),
    inFrame(state, ["held", "step"], markHeld),
  ];
  show();
  return { node, dispose: () => stops.forEach((stop) => stop()) };
}

function segmentNode(segment, scale, unit) {
  const title = `${segment.label}: ${sizeTold(segment.bytes, unit)}, ${segment.title}`;
  const node = colored(barPiece("segment", segment.bytes, scale, { title }), `cat-${segment.key}`);
  if (segment.hasBuffers) {
    node.dataset.part = segment.key;
    node.append(el("span", { class: "held-part" }));
  }
  return node;
}

function partNode(segment, unit, onToggle) {
  const content = [
    swatch(`cat-${segment.key}`),
    el("span", {}, segment.label),
    sizeFigure(segment.bytes, unit),
  ];
  if (!segment.hasBuffers) return el("span", { class: "part", title: segment.title }, ...content);
  const node = button("", () => onToggle(segment.key), {
    class: "bare part",
    title: `${segment.title}; click: show these in all charts`,
    data: { part: segment.key },
  });
  node.replaceChildren(...content);
  return node;
}

/** What is too little to be seen in the bar, as one. */
function smallNode(small, unit) {
  if (small.length === 0) return null;
  const bytes = small.reduce((sum, one) => sum + one.bytes, 0);
  const title = small.map((one) => `${one.label} ${formatSize(one.bytes, unit)}`).join(", ");
  const label = small.length === 1 ? small[0].label : `${small.length} more types`;
  return el("span", { class: "part small-parts", title }, label, " ", sizeFigure(bytes, unit));
}

function summary(segments, unit) {
  return `Memory by category: ${segments.map((one) => `${one.label} ${formatSize(one.bytes, unit)}`).join(", ")}`;
}
