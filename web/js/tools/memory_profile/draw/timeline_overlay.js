// @ts-check
// What lies over the plot of the timeline: axes, lanes, step lines, the peak, the chosen time and the cursor.
import { byteTickDigits, byteTicks, toPixel } from "../../../base/axes.js";
import { drawSideways, fitCanvas, fitText, labelOnScrap } from "../../../base/canvas.js";
import { formatSize, groupDigits, pickAxisUnit, tickText } from "../../../base/format.js";
import { palette } from "../../../base/palette.js";
import { PS_PER_MS, msDigits } from "../../../base/time_text.js";
import {
  AXIS_BELOW,
  GUTTER_LEFT,
  GUTTER_RIGHT,
  LANE_HEIGHT,
  ROOM_ABOVE,
  bandKey,
  boxesIn,
  timeTicks,
} from "../layout/frame.js";

const FONT = "11px system-ui, sans-serif";
const LEAST_STEP_LINES = 24; // closer than this many pixels, lines would hide the data

/**
 * @param {{view: {x: any, y: any}, lanes: any[], unit: string, peak: any, chosen: number | null,
 *          isPeakChosen: boolean, hover: number | null,
 *          mark: any, run: string | null, hasFragmentation: boolean}} scene
 */
export function drawTimelineOverlay(canvas, scene) {
  const { context, width, height } = fitCanvas(canvas);
  const colors = palette();
  const top = ROOM_ABOVE + scene.lanes.length * LANE_HEIGHT;
  const plot = {
    left: GUTTER_LEFT,
    top,
    width: width - GUTTER_LEFT - GUTTER_RIGHT,
    height: height - AXIS_BELOW - top,
  };
  const place = { context, plot, colors, ...scene };
  context.clearRect(0, 0, width, height);
  context.font = FONT;
  scene.lanes.forEach((lane, i) => drawLane(place, lane, ROOM_ABOVE + i * LANE_HEIGHT));
  drawTimeAxis(place);
  drawByteAxis(place);
  if (scene.hasFragmentation) drawShareAxis(place);
  clipTo(place, () => {
    drawStepLines(place);
    drawMark(place);
    if (scene.isPeakChosen) drawStem(place);
    else drawCursor(place, scene.chosen, colors.accent, 1.5);
    drawCursor(place, scene.hover, colors["ink-2"], 1);
    drawPeak(place);
  });
}

function clipTo({ context, plot }, draw) {
  context.save();
  context.beginPath();
  context.rect(plot.left, ROOM_ABOVE, plot.width, plot.top + plot.height - ROOM_ABOVE);
  context.clip();
  draw();
  context.restore();
}

function drawTimeAxis({ context, plot, colors, view }) {
  const bottom = plot.top + plot.height;
  context.strokeStyle = colors.line;
  context.strokeRect(plot.left - 0.5, plot.top - 0.5, plot.width + 1, plot.height + 1);
  context.fillStyle = colors["ink-3"];
  context.textBaseline = "top";
  context.textAlign = "center";
  const { step, at } = timeTicks(view.x, plot.width);
  const digits = msDigits(step);
  for (const time of at) {
    const x = plot.left + toPixel(time, view.x, plot.width);
    context.fillRect(Math.round(x), bottom, 1, 4);
    context.fillText((time / PS_PER_MS).toFixed(digits), x, bottom + 6);
  }
  context.fillText("Timestamp (ms)", plot.left + plot.width / 2, bottom + 21);
}

function drawByteAxis({ context, plot, colors, view, unit: mode }) {
  const bottom = plot.top + plot.height;
  const unit = pickAxisUnit(view.y.end, mode);
  const digits = byteTickDigits(view.y, unit);
  context.textAlign = "right";
  context.textBaseline = "middle";
  for (const bytes of byteTicks(view.y, plot.height, unit)) {
    const y = bottom - toPixel(bytes, view.y, plot.height);
    context.globalAlpha = 0.12;
    context.fillStyle = colors.ink;
    context.fillRect(plot.left, Math.round(y), plot.width, 1);
    context.globalAlpha = 1;
    context.fillStyle = colors["ink-3"];
    context.fillText(tickText(bytes, unit, digits), plot.left - 6, keep(y, plot));
  }
  drawSideways(context, "Memory Usage", 8, plot.top + plot.height / 2);
  context.textAlign = "left";
}

function drawShareAxis({ context, plot, colors }) {
  const right = plot.left + plot.width;
  context.fillStyle = colors["mem-fragmentation"];
  context.textBaseline = "middle";
  for (const percent of [0, 25, 50, 75, 100]) {
    const y = plot.top + plot.height * (1 - percent / 100);
    context.fillText(`${percent} %`, right + 5, keep(y, plot));
  }
  drawSideways(context, "Fragmentation (%)", right + GUTTER_RIGHT - 8, plot.top + plot.height / 2);
}

function keep(y, plot) {
  return Math.max(plot.top + 4, Math.min(plot.top + plot.height - 4, y));
}

function drawLane({ context, plot, colors, view, run }, lane, top) {
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = colors["ink-3"];
  const middle = top + LANE_HEIGHT / 2 - 1;
  context.fillText(fitText(context, lane.label, GUTTER_LEFT - 12) || lane.label, plot.left - 6, middle);
  context.textAlign = "left";
  for (const box of boxesIn(lane.bands, view.x, plot.width)) {
    const isChosen = bandKey(lane, box.index) === run;
    drawBand({ context, colors }, lane, box, { x: plot.left + box.x0, y: top, isChosen });
  }
}

function drawBand({ context, colors }, lane, box, { x, y, isChosen }) {
  const wide = box.x1 - box.x0;
  const isStep = lane.kind === "steps";
  context.globalAlpha = isStep ? 0.16 + 0.12 * (box.index % 2) : 0.3 + 0.15 * (box.index % 2);
  context.fillStyle = isStep ? colors["ink-3"] : colors.accent;
  if (isChosen) context.globalAlpha = 0.85;
  context.fillRect(x, y, Math.max(1, wide - (wide > 3 ? 1 : 0)), LANE_HEIGHT - 3);
  context.globalAlpha = 1;
  const text = wide > 20 ? fitText(context, lane.bands.name[box.index], wide - 6) : "";
  if (!text) return;
  context.fillStyle = isChosen ? colors.bg : colors.ink;
  context.fillText(text, x + 3, y + LANE_HEIGHT / 2 - 1);
}

/** Where steps begin, through the plot, as long as they stand apart. */
function drawStepLines({ context, plot, colors, view, lanes }) {
  const steps = lanes.find((lane) => lane.kind === "steps");
  if (!steps) return;
  const boxes = boxesIn(steps.bands, view.x, plot.width);
  if (boxes.length * LEAST_STEP_LINES > plot.width || boxes.some((box) => box.merged > 0)) return;
  context.fillStyle = colors["ink-3"];
  context.globalAlpha = 0.35;
  for (const { index } of boxes) {
    const x = plot.left + toPixel(steps.bands.begin[index], view.x, plot.width);
    context.fillRect(Math.round(x), plot.top, 1, plot.height);
  }
  context.globalAlpha = 1;
}

function drawPeak({ context, plot, colors, view, peak, unit }) {
  if (peak.ps === null) return;
  const x = plot.left + toPixel(peak.ps, view.x, plot.width);
  if (x < plot.left || x > plot.left + plot.width) return;
  const y = peakRow(plot, view, peak);
  if (y > plot.top + plot.height) return;
  context.fillStyle = colors.ink;
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - 4, y - 6);
  context.lineTo(x + 4, y - 6);
  context.fill();
  context.textBaseline = "alphabetic";
  const step = peak.step === null ? "" : `, step ${groupDigits(peak.step)}`;
  const text = `peak ${formatSize(peak.bytes, unit)}${step}`;
  const wide = context.measureText(text).width;
  const fits = x + 10 + wide < plot.left + plot.width;
  labelOnScrap(context, text, {
    x: fits ? x + 8 : x - 8 - wide,
    y: Math.max(plot.top + 11, y),
    ink: colors.ink,
    scrap: colors.bg,
  });
}

function peakRow(plot, view, peak) {
  const share = (peak.bytes - view.y.begin) / (view.y.end - view.y.begin);
  return Math.max(plot.top + 7, plot.top + plot.height * (1 - share));
}

/** The peak is chosen: marked from above, so that the line does not hide the peak itself. */
function drawStem({ context, plot, colors, view, peak }) {
  if (peak.ps === null) return;
  const x = plot.left + toPixel(peak.ps, view.x, plot.width);
  context.fillStyle = colors.accent;
  context.fillRect(x - 0.75, ROOM_ABOVE, 1.5, Math.max(0, peakRow(plot, view, peak) - 6 - ROOM_ABOVE));
}

function drawCursor({ context, plot, view }, time, color, thickness) {
  if (time === null) return;
  const x = plot.left + toPixel(time, view.x, plot.width);
  context.strokeStyle = color;
  context.lineWidth = thickness;
  context.beginPath();
  context.moveTo(x, ROOM_ABOVE);
  context.lineTo(x, plot.top + plot.height);
  context.stroke();
  context.lineWidth = 1;
}

function drawMark({ context, plot, colors, mark }) {
  if (!mark) return;
  context.fillStyle = colors.accent;
  context.globalAlpha = 0.15;
  context.fillRect(plot.left + mark.x0, plot.top + mark.y0, mark.x1 - mark.x0, mark.y1 - mark.y0);
  context.globalAlpha = 1;
}
