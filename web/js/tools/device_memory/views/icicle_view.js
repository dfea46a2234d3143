// @ts-check
// The icicle: who called whom, by what they hold. Click a frame to zoom into it, its callers stand above as a path.
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { exactBytes, formatPercent, formatSize, groupDigits, plural } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { nodeName, nodeSource, stackOf } from "../data/model.js";
import { foundTotal } from "../data/search.js";
import { layoutIcicle, neighbour, nodeAt, rectOf } from "../layout/icicle.js";
import { drawIcicle } from "../draw/icicle_painter.js";
import { createHoverCard } from "./hover_card.js";

const ROW_HEIGHT = 20;
const PATH_SHOWN = 6;

export function createIcicle(state) {
  const { model } = state;
  const canvas = el("canvas", { class: "icicle-canvas", role: "img", tabindex: 0 });
  const card = createHoverCard(state);
  const frame = el("div", { class: "icicle" }, canvas, card.node);
  const path = el("nav", { class: "icicle-path ellipsis", "aria-label": "callers of the frame on top" });
  const merged = el("span", { class: "aside", id: "icicle-merged" });
  const found = el("span", { class: "facts", id: "icicle-found", role: "status" });
  const node = chartSection("Stacks, outermost frame on top", [legend(), found, merged], [path, frame]);
  let layout = null;

  function arrange() {
    const { root, totals } = state.get();
    layout = layoutIcicle(model, totals, root, canvas.clientWidth);
    frame.style.height = `${layout.rows * ROW_HEIGHT}px`;
    setText(merged, layout.merged ? `${plural(layout.merged, "frame")} under a pixel merged` : "");
    canvas.setAttribute("aria-label", summary(state));
    path.replaceChildren(...pathParts(state));
    showFound();
    requestFrame(draw);
  }

  function showFound() {
    const { flags, totals, byCount, unit } = state.get();
    if (!flags) return setText(found, "");
    const sum = foundTotal(model, flags, totals);
    const share = totals[0] > 0 ? ` (${formatPercent(sum / totals[0])})` : "";
    setText(found, `found: ${byCount ? groupDigits(sum) : formatSize(sum, unit)}${share}`);
  }

  function draw() {
    if (!layout) return;
    const { hover, flags } = state.get();
    drawIcicle(canvas, model, layout, ROW_HEIGHT, { hover, flags });
    const rect = hover === null ? null : rectOf(layout, hover);
    card.show(rect ? hover : null, rect && { x0: rect.x0, x1: rect.x1, y: (rect.row + 1) * ROW_HEIGHT });
  }

  function nodeOf(event) {
    const at = layout ? nodeAt(layout, ROW_HEIGHT, event.offsetX, event.offsetY) : -1;
    return at < 0 ? null : at;
  }

  function onKeyDown(event) {
    const { hover, root } = state.get();
    if (event.key.startsWith("Arrow") && layout) {
      state.actions.hoverNode(hover === null ? root : neighbour(layout, model, hover, event.key));
    } else if (event.key === "Enter" && hover !== null) state.actions.zoomTo(hover);
    else if (event.key === "Backspace") state.actions.zoomOut();
    else return;
    event.preventDefault();
  }

  canvas.addEventListener("pointermove", (event) => state.actions.hoverNode(nodeOf(event)));
  canvas.addEventListener("pointerleave", () => state.actions.hoverNode(null));
  canvas.addEventListener("blur", () => state.actions.hoverNode(null));
  canvas.addEventListener("click", (event) => {
    const at = nodeOf(event);
    if (at !== null) state.actions.zoomTo(at === state.get().root ? Math.max(0, model.parent[at]) : at);
  });
  canvas.addEventListener("keydown", onKeyDown);
  const dispose = together(
    onResize(node, arrange),
    inFrame(state, ["root", "totals", "flags", "unit"], arrange),
    inFrame(state, ["hover"], draw),
  );
  return { node, start: arrange, redraw: draw, dispose };
}

function legend() {
  const key = (name, text) => el("span", { class: "icicle-key" }, swatch(name), text);
  return el("span", { class: "icicle-keys" }, key("frame-own", "your code"), key("frame-library", "libraries"));
}

/** "all > main > train": each leads back there. A long path keeps its two ends. */
function pathParts(state) {
  const { model, actions } = state;
  const { root } = state.get();
  if (root === 0) return [];
  const nodes = [0, ...stackOf(model, root)];
  const shown = nodes.length <= PATH_SHOWN ? nodes : [nodes[0], ...nodes.slice(1 - PATH_SHOWN)];
  const parts = shown.flatMap((at, i) => {
    const gap = i === 1 && shown.length < nodes.length ? " › … › " : " › ";
    const title = nodeSource(model, at) || null;
    const step =
      at === root
        ? el("strong", { title }, nodeName(model, at))
        : button(nodeName(model, at), () => actions.zoomTo(at), { class: "link", title });
    return i === 0 ? [step] : [gap, step];
  });
  return parts;
}

function summary(state) {
  const { figures, root } = state.get();
  const { model } = state;
  return (
    `Icicle of stacks below ${nodeName(model, root)}: ${exactBytes(figures.totalBytes[root])} in ` +
    `${plural(figures.totalCount[root], "object")}. Arrow keys walk the frames, Enter zooms, Backspace zooms out. ` +
    `The table below lists the functions.`
  );
}
