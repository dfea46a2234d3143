// @ts-check
// The whole timeline, small, while a part of it is in sight; the part is framed. Drag the frame, or click where to go.
import { toPixel } from "../../../base/axes.js";
import { fitCanvas } from "../../../base/canvas.js";
import { el } from "../../../base/dom.js";
import { attachGestures } from "../../../base/gestures.js";
import { palette } from "../../../base/palette.js";
import { drawOutline } from "../../../base/plot.js";
import { range, sameRange, span } from "../../../base/range.js";
import { runInSlices } from "../../../base/slices.js";
import { createBlockPainter } from "../draw/block_painter.js";

const LABEL = "the whole timeline; the frame is the part in sight. Drag it, or click where to go";
const SHADE = 0.6;
const LEAST_FRAME = 4; // pixels

/** @param {any} state @param {() => any} sceneNow what the painter of the timeline draws, but for the view */
export function createMinimap(state, sceneNow) {
  const base = el("canvas", { class: "minimap-base" });
  const overlay = el("canvas", { class: "overlay" });
  const options = { class: "minimap", hidden: true, role: "img", "aria-label": LABEL, title: LABEL };
  const node = el("div", options, base, overlay);
  const painter = createBlockPainter(base);
  let stopPainting = () => {};
  let isPainted = false;

  const isZoomed = () => !sameRange(state.get().x, state.full.x) || !sameRange(state.get().y, state.full.y);

  /** The blocks look different now, or are as wide as something else. */
  function repaint() {
    isPainted = false;
    draw();
  }

  function draw() {
    node.hidden = !isZoomed();
    if (node.hidden) return;
    if (!isPainted) paint();
    drawFrame();
  }

  function paint() {
    isPainted = true;
    stopPainting();
    const scene = { ...sceneNow(), view: state.full, isNamed: false };
    stopPainting = runInSlices(painter.paint(scene), () => {});
  }

  function drawFrame() {
    const { context, width, height } = fitCanvas(overlay);
    const colors = palette();
    const { x0, x1, y0, y1 } = frameIn(width, height);
    context.fillStyle = colors.bg;
    context.globalAlpha = SHADE;
    context.beginPath();
    context.rect(0, 0, width, height);
    context.rect(x0, y0, x1 - x0, y1 - y0);
    context.fill("evenodd");
    context.globalAlpha = 1;
    drawOutline(context, { x0, x1, y0, y1 }, colors.accent, 1.5);
  }

  /** Of the window, in pixels; never too small to take hold of. */
  function frameIn(width, height) {
    const { full } = state;
    const { x, y } = state.get();
    const [x0, x1] = atLeast(toPixel(x.begin, full.x, width), toPixel(x.end, full.x, width));
    const [y0, y1] = atLeast(height - toPixel(y.end, full.y, height), height - toPixel(y.begin, full.y, height));
    return { x0, x1, y0, y1 };
  }

  function goTo({ x, y }) {
    const { full } = state;
    const middle = {
      x: full.x.begin + (x / base.clientWidth) * span(full.x),
      y: full.y.end - (y / base.clientHeight) * span(full.y),
    };
    state.actions.showRange(about(middle.x, state.get().x), about(middle.y, state.get().y));
  }

  attachGestures(base, {
    onClick: goTo,
    onPan: (dx, dy) =>
      state.actions.pan((dx / base.clientWidth) * span(state.full.x), (-dy / base.clientHeight) * span(state.full.y)),
  });

  return { node, draw, repaint, dispose: () => stopPainting() };
}

const about = (middle, r) => range(middle - span(r) / 2, middle + span(r) / 2);

function atLeast(begin, end) {
  const missing = Math.max(0, LEAST_FRAME - (end - begin)) / 2;
  return [begin - missing, end + missing];
}
