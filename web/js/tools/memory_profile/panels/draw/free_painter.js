// @ts-check
// Free memory as an area, its largest block as a darker one before it: what lies between them is free and cannot be had
// in one piece. Moments are marked above, the chosen time and the mouse by lines.
import { clipped, drawByteAxis, drawCursor, drawXAxis } from "../../../../base/plot.js";
import { drawBreaks, openTimePlot } from "../../draw/time_plot.js";
import { timeTicks } from "../../layout/frame.js";
import { isFailure } from "../data/pressure.js";
import { FREE_GUTTERS } from "../layout/free_frame.js";

const LEAST_MOMENT = 2; // pixels

/**
 * @param {any} canvas
 * @param {{steps: any[], view: {x: any, y: any}, axis: any, moments: any[], unit: string, chosen: number | null,
 *          hover: number | null}} scene
 */
export function drawFree(canvas, scene) {
  const { steps, view, axis, moments, unit, chosen, hover } = scene;
  const plot = openTimePlot(canvas, FREE_GUTTERS, view, axis);
  const { colors } = plot;
  drawByteAxis(plot, unit, "Free Memory", true);
  const { at, textOf } = timeTicks(view.x, plot.width, axis);
  drawXAxis(plot, at, textOf, "Timestamp (ms)");
  const drawOver = () => {
    drawArea(plot, steps, "free", colors["mem-free"], 1);
    drawArea(plot, steps, "largest", colors["mem-fragmentation"], 0.45);
    drawEdge(plot, steps, "free", colors["ink-3"]);
    drawEdge(plot, steps, "largest", colors["mem-fragmentation"]);
    drawBreaks(plot);
    moments.forEach((moment) => drawMoment(plot, moment));
    drawCursor(plot, chosen, colors.accent, 1.5, 0);
    drawCursor(plot, hover, colors["ink-2"], 1, 0);
  };
  clipped(plot, drawOver, 0);
}

function drawArea({ context, bottom, toX, toY }, steps, fact, color, alpha) {
  context.fillStyle = color;
  context.globalAlpha = alpha;
  context.beginPath();
  for (const step of steps) {
    if (step[fact] === null) continue;
    const [x0, x1, y] = [toX(step.x0), toX(step.x1), toY(step[fact])];
    context.rect(x0, y, Math.max(0.5, x1 - x0), bottom - y);
  }
  context.fill();
  context.globalAlpha = 1;
}

function drawEdge({ context, toX, toY }, steps, fact, color) {
  context.strokeStyle = color;
  context.beginPath();
  let end = NaN;
  for (const step of steps) {
    if (step[fact] === null) continue;
    const y = toY(step[fact]);
    if (step.x0 === end) context.lineTo(toX(step.x0), y);
    else context.moveTo(toX(step.x0), y);
    context.lineTo(toX(step.x1), y);
    end = step.x1;
  }
  context.stroke();
}

/** Above the plot; one that failed also through it. */
function drawMoment({ context, colors, top, height, toX }, moment) {
  const x0 = toX(moment.time_ps);
  const wide = Math.max(LEAST_MOMENT, moment.until_ps === null ? 0 : toX(moment.until_ps) - x0);
  const failed = isFailure(moment);
  context.fillStyle = failed ? colors.danger : colors["ink-2"];
  context.fillRect(x0, 0, wide, top - 3);
  context.globalAlpha = failed ? 0.06 : 0;
  context.fillRect(x0, top, wide, height);
  context.globalAlpha = 1;
}
