// @ts-check
// What lies over the timeline's blocks: axes, the edges of lanes and bands, what is free at the cursor, outlines.
import { labelOnScrap } from "../../../base/canvas.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import { clipped, drawByteAxis, drawCursor, drawMark, drawOutline, drawXAxis, openPlot } from "../../../base/plot.js";
import { laneWords } from "../data/block_words.js";
import { BLOCK_GUTTERS, stepTicks } from "../layout/axes.js";
import { bytesOf, sumOfHoles } from "../layout/holes.js";

const LABEL_HEIGHT = 15; // what a label needs to stand in
const LEAST_HOLES = 9; // pixels: what is free at one step is shown as wide as this
const HATCH_GAP = 4;

/** `holes` are those at the step in focus (layout/holes.js). */
export function drawBlockOverlay(canvas, { state, view, mark, holes }) {
  const plot = openPlot(canvas, BLOCK_GUTTERS, view);
  const { context, colors, width } = plot;
  const { blocks } = state;
  const { step, hoverStep, hover, pinned, unit } = state.get();
  const isSimulated = state.model.steps > 0;
  const title = isSimulated ? "Heap Simulation Time (Program Order)" : "the whole program";
  drawXAxis(plot, isSimulated ? stepTicks(view.x, width) : [], groupDigits, title);
  drawByteAxis(plot, unit, blocks.lanes.length > 1 ? "All Allocations, by Offset" : "Memory Offset");
  clipped(plot, () => {
    drawCursor(plot, isSimulated ? step + 0.5 : null, colors.accent, 1.5);
    drawCursor(plot, hoverStep === null || !isSimulated ? null : hoverStep + 0.5, colors["ink-2"], 1);
    drawHoles(plot, holes, state.stepInFocus(), unit);
    blocks.lanes.forEach((lane) => drawLane(plot, lane, unit, state.get().folded));
    drawOutline(context, boxOf(plot, blocks, pinned), colors.accent, 2.5);
    drawOutline(context, boxOf(plot, blocks, hover), colors.ink, 2);
    drawMark(plot, mark);
  });
}

/** The upper edge of a lane or a band, and which it is, where there is room. */
function drawLane({ context, colors, left, right, top, bottom, toY }, lane, unit, folded) {
  const [high, low] = [Math.max(top, toY(lane.end)), Math.min(bottom, toY(lane.begin))];
  context.fillStyle = colors["ink-2"];
  context.fillRect(left, Math.round(toY(lane.end)), right - left, 1);
  const isNamedInside = lane.count === 0 || (lane.allocation === null && folded.has(lane.key));
  if (low - high < LABEL_HEIGHT || isNamedInside) return;
  const text = laneWords(lane, unit);
  const x = right - 6 - context.measureText(text).width;
  labelOnScrap(context, text, { x, y: high + 12, ink: colors["ink-2"], scrap: colors.bg });
}

/** What is free at the step, hatched; the largest stretch outlined and named. */
function drawHoles(plot, lanes, step, unit) {
  const { context, colors, bottom, top, toX, toY } = plot;
  const middle = toX(step + 0.5);
  const half = Math.max(LEAST_HOLES, toX(step + 1) - toX(step)) / 2;
  const boxes = lanes.flatMap(({ holes }) => holes.map(({ begin, end }) => [toY(end), toY(begin)]));
  const inSight = boxes.filter(([high, low]) => low > top && high < bottom);
  if (inSight.length === 0) return;
  context.save();
  context.beginPath();
  for (const [high, low] of inSight) context.rect(middle - half, high, 2 * half, Math.max(1, low - high));
  context.clip();
  hatch(plot, middle - half, middle + half);
  context.restore();
  const { largest } = sumOfHoles(lanes);
  if (largest) drawLargest(plot, largest.hole, { x0: middle - half, x1: middle + half }, unit, colors);
}

function hatch({ context, colors, top, bottom }, from, to) {
  context.fillStyle = colors.bg;
  context.globalAlpha = 0.75;
  context.fillRect(from, top, to - from, bottom - top);
  context.globalAlpha = 1;
  context.strokeStyle = colors["ink-3"];
  context.beginPath();
  for (let y = top - (to - from); y < bottom; y += HATCH_GAP) {
    context.moveTo(from, y + (to - from));
    context.lineTo(to, y);
  }
  context.stroke();
}

function drawLargest({ context, right, top, bottom, toY }, hole, { x0, x1 }, unit, colors) {
  const [y0, y1] = [toY(hole.end), toY(hole.begin)];
  drawOutline(context, { x0, x1, y0, y1 }, colors["ink-2"], 1.5);
  const [high, low] = [Math.max(top, y0), Math.min(bottom, y1)];
  if (low - high < LABEL_HEIGHT) return;
  const text = `${formatSize(bytesOf(hole), unit)} free`;
  const wide = context.measureText(text).width;
  const x = x1 + 6 + wide < right ? x1 + 5 : x0 - 5 - wide;
  labelOnScrap(context, text, { x, y: (high + low) / 2 + 4, ink: colors.ink, scrap: colors.bg });
}

/** The pixels of a row's block; null where it has none. */
function boxOf({ toX, toY }, blocks, row) {
  const i = row === null ? -1 : blocks.indexOfRow[row];
  if (i < 0) return null;
  return { x0: toX(blocks.x0[i]), x1: toX(blocks.x1[i]), y0: toY(blocks.y1[i]), y1: toY(blocks.y0[i]) };
}
