// @ts-check
// Free memory as an area, its largest block as a darker one before it: what lies between them is free and cannot be had
// in one piece. Moments are marked above, the chosen time and the mouse by lines.
import { byteTickDigits, byteTicks, toPixel } from "../../../../base/axes.js";
import { drawSideways, fitCanvas } from "../../../../base/canvas.js";
import { pickAxisUnit, tickText } from "../../../../base/format.js";
import { palette } from "../../../../base/palette.js";
import { PS_PER_MS, msDigits } from "../../../../base/time_text.js";
import { timeTicks } from "../../layout/frame.js";
import { isFailure } from "../data/pressure.js";
import { GUTTERS } from "../layout/free_frame.js";

const FONT = "11px system-ui, sans-serif";
const LEAST_MOMENT = 2; // pixels

/**
 * @param {{steps: any[], view: {x: any, y: any}, moments: any[], unit: string, chosen: number | null,
 *          hover: number | null}} scene
 */
export function drawFree(canvas, scene) {
  const { context, width, height } = fitCanvas(canvas);
  const colors = palette();
  const plot = {
    left: GUTTERS.left,
    top: GUTTERS.top,
    width: width - GUTTERS.left - GUTTERS.right,
    height: height - GUTTERS.top - GUTTERS.bottom,
  };
  const place = { context, plot, colors, ...scene };
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  drawByteAxis(place);
  drawTimeAxis(place);
  context.save();
  context.beginPath();
  context.rect(plot.left, 0, plot.width, height);
  context.clip();
  drawArea(place, "free", colors["mem-free"], 1);
  drawArea(place, "largest", colors["mem-fragmentation"], 0.45);
  drawEdge(place, "free", colors["ink-3"]);
  drawEdge(place, "largest", colors["mem-fragmentation"]);
  drawMoments(place);
  drawCursor(place, scene.chosen, colors.accent, 1.5);
  drawCursor(place, scene.hover, colors["ink-2"], 1);
  context.restore();
}

const xOf = ({ plot, view }, time) => plot.left + toPixel(time, view.x, plot.width);
const yOf = ({ plot, view }, bytes) => plot.top + plot.height - toPixel(bytes, view.y, plot.height);

function drawArea(place, fact, color, alpha) {
  const { context, plot, steps } = place;
  const bottom = plot.top + plot.height;
  context.fillStyle = color;
  context.globalAlpha = alpha;
  context.beginPath();
  for (const step of steps) {
    if (step[fact] === null) continue;
    const [x0, x1, y] = [xOf(place, step.x0), xOf(place, step.x1), yOf(place, step[fact])];
    context.rect(x0, y, Math.max(0.5, x1 - x0), bottom - y);
  }
  context.fill();
  context.globalAlpha = 1;
}

function drawEdge(place, fact, color) {
  const { context, steps } = place;
  context.strokeStyle = color;
  context.lineWidth = 1;
  context.beginPath();
  let end = NaN;
  for (const step of steps) {
    if (step[fact] === null) continue;
    const y = yOf(place, step[fact]);
    if (step.x0 === end) context.lineTo(xOf(place, step.x0), y);
    else context.moveTo(xOf(place, step.x0), y);
    context.lineTo(xOf(place, step.x1), y);
    end = step.x1;
  }
  context.stroke();
}

function drawMoments(place) {
  const { context, plot, colors, moments } = place;
  for (const moment of moments) {
    const x0 = xOf(place, moment.time_ps);
    const wide = moment.until_ps === null ? 0 : xOf(place, moment.until_ps) - x0;
    const failed = isFailure(moment);
    context.fillStyle = failed ? colors.danger : colors["ink-2"];
    context.fillRect(x0, 0, Math.max(LEAST_MOMENT, wide), plot.top - 3);
    if (!failed) continue;
    context.globalAlpha = 0.06;
    context.fillRect(x0, plot.top, Math.max(LEAST_MOMENT, wide), plot.height);
    context.globalAlpha = 1;
  }
}

function drawByteAxis(place) {
  const { context, plot, colors, view, unit: mode } = place;
  const unit = pickAxisUnit(view.y.end, mode);
  const digits = byteTickDigits(view.y, unit);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const bytes of byteTicks(view.y, plot.height, unit)) {
    const y = yOf(place, bytes);
    context.globalAlpha = 0.12;
    context.fillStyle = colors.ink;
    context.fillRect(plot.left, Math.round(y), plot.width, 1);
    context.globalAlpha = 1;
    context.fillStyle = colors["ink-3"];
    context.fillText(tickText(bytes, unit, digits), plot.left - 6, y);
  }
  drawSideways(context, "Free Memory", 8, plot.top + plot.height / 2);
}

function drawTimeAxis({ context, plot, colors, view }) {
  const bottom = plot.top + plot.height;
  context.strokeStyle = colors.line;
  context.strokeRect(plot.left - 0.5, plot.top - 0.5, plot.width + 1, plot.height + 1);
  context.fillStyle = colors["ink-3"];
  context.textBaseline = "top";
  context.textAlign = "center";
  const { step, at } = timeTicks(view.x, plot.width);
  for (const time of at) {
    const x = plot.left + toPixel(time, view.x, plot.width);
    context.fillRect(Math.round(x), bottom, 1, 4);
    context.fillText((time / PS_PER_MS).toFixed(msDigits(step)), x, bottom + 6);
  }
  context.fillText("Timestamp (ms)", plot.left + plot.width / 2, bottom + 20);
}

function drawCursor(place, time, color, thickness) {
  if (time === null || time === undefined) return;
  const { context, plot } = place;
  const x = xOf(place, time);
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.beginPath();
  context.moveTo(x, 0);
  context.lineTo(x, plot.top + plot.height);
  context.stroke();
  context.lineWidth = 1;
}
