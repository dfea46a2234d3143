// @ts-check
// The timeline's two layers: the blocks (pixels, then the names that fit) and, above, axes, outlines and cursors.
import { toPixel } from "../../../base/axes.js";
import { fitCanvas, fitText } from "../../../base/canvas.js";
import { groupDigits } from "../../../base/format.js";
import { palette } from "../../../base/palette.js";
import { clipped, drawByteAxis, drawCursor, drawMark, drawOutline, drawXAxis, openPlot } from "../../../base/plot.js";
import { nameOf } from "../data/model.js";
import { BLOCK_GUTTERS, stepTicks } from "../layout/axes.js";
import { nothingDrawn, rasterBlocks } from "../layout/raster.js";
import { isFadedStyle } from "./block_styles.js";

const BLOCKS_PER_STEP = 1 << 14;
const NAME_COLOR = "#14181c";

/** Keeps its ImageData between frames. `paint` goes in steps (base/slices.js) and shows the blocks after the last. */
export function createBlockPainter(canvas) {
  let image = null;
  let pixels = null;

  function* paint({ model, blocks, view, colors, ofBlock }) {
    const { context, width, height, ratio } = fitCanvas(canvas, true);
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
    const styles = { ...colors, ofBlock };
    const drawn = nothingDrawn();
    for (let begin = 0; begin < blocks.count; begin += BLOCKS_PER_STEP) {
      const end = Math.min(blocks.count, begin + BLOCKS_PER_STEP);
      rasterBlocks(blocks, view, target, styles, { begin, end }, drawn);
      yield;
    }
    context.putImageData(image, 0, 0);
    drawNames(context, { model, blocks, view, width, height, ofBlock }, drawn.large);
    return drawn;
  }

  return { paint };
}

function drawNames(context, { model, blocks, view, width, height, ofBlock }, large) {
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
  const plot = openPlot(canvas, BLOCK_GUTTERS, view);
  const { context, colors, width } = plot;
  const { step, hoverStep, hover, pinned, unit } = state.get();
  drawXAxis(plot, stepTicks(view.x, width), groupDigits, "Heap Simulation Time (Program Order)");
  drawByteAxis(plot, unit, "Memory Offset");
  clipped(plot, () => {
    drawLanes(plot, state.blocks.lanes);
    drawCursor(plot, step + 0.5, colors.accent, 1.5);
    drawCursor(plot, hoverStep === null ? null : hoverStep + 0.5, colors["ink-2"], 1);
    drawOutline(context, boxOf(plot, state.blocks, pinned), colors.accent, 2.5);
    drawOutline(context, boxOf(plot, state.blocks, hover), colors.ink, 2);
    drawMark(plot, mark);
  });
}

/** Several temporary allocations: a line between them and the number of each. */
function drawLanes({ context, colors, left, right, toY }, lanes) {
  if (lanes.length < 2) return;
  context.fillStyle = colors["ink-2"];
  context.strokeStyle = colors["ink-3"];
  context.textBaseline = "top";
  for (const lane of lanes) {
    const y = toY(lane.end);
    context.beginPath();
    context.moveTo(left, y);
    context.lineTo(right, y);
    context.stroke();
    context.fillText(`allocation ${lane.allocation}`, left + 4, y + 3);
  }
}

/** The pixels of a row's block; null where it has none. */
function boxOf({ toX, toY }, blocks, row) {
  const i = row === null ? -1 : blocks.indexOfRow[row];
  if (i < 0) return null;
  return { x0: toX(blocks.x0[i]), x1: toX(blocks.x1[i]), y0: toY(blocks.y1[i]), y1: toY(blocks.y0[i]) };
}
