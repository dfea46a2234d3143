// @ts-check
// The timeline's two layers: the blocks (pixels, then the names that fit) and, above, axes, outlines and cursors.
import { byteTickDigits, byteTicks, toPixel } from "../../../base/axes.js";
import { drawSideways, fitCanvas, fitText } from "../../../base/canvas.js";
import { groupDigits, pickAxisUnit, tickText } from "../../../base/format.js";
import { palette } from "../../../base/palette.js";
import { nameOf } from "../data/model.js";
import { GUTTER_LEFT, GUTTER_RIGHT, stepTicks } from "../layout/axes.js";
import { rasterBlocks } from "../layout/raster.js";
import { isFadedStyle } from "./block_styles.js";

const FONT = "11px system-ui, sans-serif";
const NAME_COLOR = "#14181c";
export const AXIS_BELOW = 36;
export const ROOM_ABOVE = 6;

/** Keeps its ImageData between frames. */
export function createBlockPainter(canvas) {
  let image = null;
  let pixels = null;

  function paint({ model, blocks, view, colors, ofBlock }) {
    const { context, width, height, ratio } = fitCanvas(canvas);
    if (!image || image.width !== canvas.width || image.height !== canvas.height) {
      image = context.createImageData(canvas.width, canvas.height);
      pixels = new Uint32Array(image.data.buffer);
    }
    pixels.fill(colors.background);
    const target = {
      width: canvas.width,
      height: canvas.height,
      pixels,
      labelWidth: 58 * ratio,
      labelHeight: 13 * ratio,
    };
    const drawn = rasterBlocks(blocks, view, target, { ...colors, ofBlock });
    context.putImageData(image, 0, 0);
    drawNames(context, { model, blocks, view, width, height, ofBlock }, drawn.large);
    return drawn;
  }

  return { paint };
}

function drawNames(context, { model, blocks, view, width, height, ofBlock }, large) {
  context.font = FONT;
  context.textBaseline = "middle";
  const colors = palette();
  for (const i of large) {
    const x0 = Math.max(0, toPixel(blocks.x0[i], view.x, width));
    const x1 = Math.min(width, toPixel(blocks.x1[i], view.x, width));
    const y0 = Math.max(0, height - toPixel(blocks.y1[i], view.y, height));
    const y1 = Math.min(height, height - toPixel(blocks.y0[i], view.y, height));
    const text = fitText(context, nameOf(model, blocks.row[i]), x1 - x0 - 8);
    if (!text) continue;
    context.fillStyle = isFadedStyle(ofBlock[i]) ? colors["ink-3"] : NAME_COLOR;
    context.fillText(text, x0 + 4, (y0 + y1) / 2);
  }
}

export function drawBlockOverlay(canvas, { state, view, mark }) {
  const { context, width, height } = fitCanvas(canvas);
  const plot = {
    left: GUTTER_LEFT,
    top: ROOM_ABOVE,
    width: width - GUTTER_LEFT - GUTTER_RIGHT,
    height: height - AXIS_BELOW - ROOM_ABOVE,
  };
  const colors = palette();
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  drawAxes(context, plot, view, state.get().unit, colors);
  context.save();
  context.beginPath();
  context.rect(plot.left, plot.top, plot.width, plot.height);
  context.clip();
  drawLanes(context, plot, view, state.blocks.lanes, colors);
  drawCursor(context, plot, view, state.get().step, colors.accent, 1.5);
  drawCursor(context, plot, view, state.get().hoverStep, colors["ink-2"], 1);
  outline(context, plot, view, state, state.get().pinned, colors.accent, 2.5);
  outline(context, plot, view, state, state.get().hover, colors.ink, 2);
  if (mark) drawMark(context, plot, mark, colors);
  context.restore();
}

function drawAxes(context, plot, view, unitMode, colors) {
  const bottom = plot.top + plot.height;
  context.strokeStyle = colors.line;
  context.strokeRect(plot.left - 0.5, plot.top - 0.5, plot.width + 1, plot.height + 1);
  context.fillStyle = colors["ink-3"];
  context.textBaseline = "top";
  context.textAlign = "center";
  for (const step of stepTicks(view.x, plot.width))
    context.fillText(groupDigits(step), plot.left + toPixel(step, view.x, plot.width), bottom + 4);
  context.fillText("Heap Simulation Time (Program Order)", plot.left + plot.width / 2, bottom + 20);
  context.textAlign = "right";
  context.textBaseline = "middle";
  const unit = pickAxisUnit(view.y.end, unitMode);
  for (const bytes of byteTicks(view.y, plot.height, unit)) {
    const y = bottom - toPixel(bytes, view.y, plot.height);
    context.fillText(
      tickText(bytes, unit, byteTickDigits(view.y, unit)),
      plot.left - 6,
      Math.max(plot.top + 4, Math.min(bottom - 4, y)),
    );
  }
  drawSideways(context, "Memory Offset", 8, plot.top + plot.height / 2);
  context.textAlign = "left";
}

/** Several temporary allocations: a line between them and the number of each. */
function drawLanes(context, plot, view, lanes, colors) {
  if (lanes.length < 2) return;
  context.fillStyle = colors["ink-2"];
  context.strokeStyle = colors["ink-3"];
  context.textBaseline = "top";
  for (const lane of lanes) {
    const y = plot.top + plot.height - toPixel(lane.end, view.y, plot.height);
    context.beginPath();
    context.moveTo(plot.left, y);
    context.lineTo(plot.left + plot.width, y);
    context.stroke();
    context.fillText(`allocation ${lane.allocation}`, plot.left + 4, y + 3);
  }
}

function drawCursor(context, plot, view, step, color, thickness) {
  if (step === null) return;
  const x = plot.left + toPixel(step + 0.5, view.x, plot.width);
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.beginPath();
  context.moveTo(x, plot.top);
  context.lineTo(x, plot.top + plot.height);
  context.stroke();
}

function outline(context, plot, view, state, row, color, thickness) {
  const i = row === null ? -1 : state.blocks.indexOfRow[row];
  if (i < 0) return;
  const { blocks } = state;
  const x0 = plot.left + toPixel(blocks.x0[i], view.x, plot.width);
  const x1 = plot.left + toPixel(blocks.x1[i], view.x, plot.width);
  const y0 = plot.top + plot.height - toPixel(blocks.y1[i], view.y, plot.height);
  const y1 = plot.top + plot.height - toPixel(blocks.y0[i], view.y, plot.height);
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.strokeRect(x0, y0, Math.max(2, x1 - x0), Math.max(2, y1 - y0));
  context.lineWidth = 1;
}

function drawMark(context, plot, { x0, x1, y0, y1 }, colors) {
  context.globalAlpha = 0.15;
  context.fillStyle = colors.accent;
  context.fillRect(plot.left + x0, plot.top + y0, x1 - x0, y1 - y0);
  context.globalAlpha = 1;
}
