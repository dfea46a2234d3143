// @ts-check
/**
 * An icicle on the page: mouse and keys on the frames of a tree, and the way back from the one on top.
 *
 *     all > main > train            path: each leads back there
 *     [ train                   ]   frame: click one to zoom into it, the one on top to zoom out
 *     [ ones      ][ jit ]
 *
 * What a frame is called, and what is drawn of it, its owner says; it also keeps what is on top and under the mouse.
 */
import { button, el } from "./dom.js";
import { layoutIcicle, neighbour, nodeAt, rectOf } from "./icicle_layout.js";
import { drawIcicle } from "./icicle_painter.js";
import { drawnBy } from "./picture/drawn_by.js";

export const ICICLE_ROW_HEIGHT = 20;
const PATH_SHOWN = 6;

/**
 * @typedef {{tree: () => import("./icicle_layout.js").Tree, totals: () => ArrayLike<number>, root: () => number,
 *            hover: () => number | null, name: (node: number) => string, title: (node: number) => string,
 *            summary: () => string, frames: import("./icicle_painter.js").Frames,
 *            onHover: (node: number | null) => void, onZoom: (node: number) => void,
 *            card?: {node: Node, show: (node: number | null, place: any) => void}}} Owner `summary` for who cannot see
 *     it; `card` tells of the frame under the mouse
 */

/** @param {Owner} owner */
export function createIcicleFrame(owner) {
  const canvas = el("canvas", { class: "icicle-canvas", role: "img", tabindex: 0 });
  const node = el("div", { class: "icicle" }, canvas, owner.card?.node ?? null);
  const path = el("nav", { class: "icicle-path ellipsis", "aria-label": "what is above the frame on top" });
  let layout = null;

  /** @returns {number} how many frames are too narrow to be drawn apart */
  function arrange() {
    layout = layoutIcicle(owner.tree(), owner.totals(), owner.root(), canvas.clientWidth);
    node.style.height = `${layout.rows * ICICLE_ROW_HEIGHT}px`;
    canvas.setAttribute("aria-label", owner.summary());
    path.replaceChildren(...pathParts(owner));
    return layout.merged;
  }

  function draw() {
    if (!layout) return;
    const hover = owner.hover();
    drawOn(canvas);
    const rect = hover === null ? null : rectOf(layout, hover);
    const place = rect && { x0: rect.x0, x1: rect.x1, y: (rect.row + 1) * ICICLE_ROW_HEIGHT };
    owner.card?.show(rect ? hover : null, place);
  }

  const drawOn = (surface) => drawIcicle(surface, owner.frames, layout, ICICLE_ROW_HEIGHT, owner.hover());
  drawnBy(canvas, drawOn);

  function nodeOf(event) {
    const at = layout ? nodeAt(layout, ICICLE_ROW_HEIGHT, event.offsetX, event.offsetY) : -1;
    return at < 0 ? null : at;
  }

  const above = (at) => Math.max(0, owner.tree().parent[at]);

  function onKeyDown(event) {
    const [hover, root] = [owner.hover(), owner.root()];
    if (event.key.startsWith("Arrow") && layout) {
      owner.onHover(hover === null ? root : neighbour(layout, owner.tree(), hover, event.key));
    } else if (event.key === "Enter" && hover !== null) owner.onZoom(hover);
    else if (event.key === "Backspace") owner.onZoom(above(root));
    else return;
    event.preventDefault();
  }

  canvas.addEventListener("pointermove", (event) => owner.onHover(nodeOf(event)));
  canvas.addEventListener("pointerleave", () => owner.onHover(null));
  canvas.addEventListener("blur", () => owner.onHover(null));
  canvas.addEventListener("click", (event) => {
    const at = nodeOf(event);
    if (at !== null) owner.onZoom(at === owner.root() ? above(at) : at);
  });
  canvas.addEventListener("keydown", onKeyDown);
  return { node, path, arrange, draw };
}

/** A long path keeps its two ends. @param {Owner} owner */
function pathParts(owner) {
  const root = owner.root();
  if (root === 0) return [];
  const nodes = [root];
  while (nodes[0] > 0) nodes.unshift(owner.tree().parent[nodes[0]]);
  const shown = nodes.length <= PATH_SHOWN ? nodes : [nodes[0], ...nodes.slice(1 - PATH_SHOWN)];
  return shown.flatMap((at, i) => {
    const gap = i === 1 && shown.length < nodes.length ? " › … › " : " › ";
    const title = owner.title(at) || null;
    const step =
      at === root
        ? el("strong", { title }, owner.name(at))
        : button(owner.name(at), () => owner.onZoom(at), { class: "link", title });
    return i === 0 ? [step] : [gap, step];
  });
}
