// @ts-check
// What lies over the plot of the timeline: axes, lanes, step lines, the peak, the chosen time and the cursor.
import { drawSideways, fitText } from "../../../base/canvas.js";
import { drawBreaks, openTimePlot } from "./time_plot.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import {
  besideFrame,
  clipped,
  drawByteAxis,
  drawCursor,
  drawMark,
  drawPeak,
  drawXAxis,
  peakY,
} from "../../../base/plot.js";
import { GUTTERS, GUTTER_LEFT, GUTTER_RIGHT, LANE_HEIGHT, bandKey, boxesIn, timeTicks } from "../layout/frame.js";

const LEAST_STEP_LINES = 24; // closer than this many pixels, lines would hide the data

/**
 * @param {{view: {x: any, y: any}, axis: any, lanes: any[], unit: string, peak: any, chosen: number | null,
 *          isPeakChosen: boolean, hover: number | null,
 *          mark: any, run: string | null, hasFragmentation: boolean}} scene
 */
export function drawTimelineOverlay(canvas, scene) {
  const { view, axis, lanes, peak, unit } = scene;
  const top = GUTTERS.top + lanes.length * LANE_HEIGHT;
  const plot = openTimePlot(canvas, { ...GUTTERS, top }, view, axis);
  const { colors } = plot;
  lanes.forEach((lane, i) => drawLane(plot, lane, GUTTERS.top + i * LANE_HEIGHT, scene.run));
  const { at, textOf } = timeTicks(view.x, plot.width, axis);
  drawXAxis(plot, at, textOf, "Timestamp (ms)");
  drawByteAxis(plot, unit, "Memory Usage", true);
  if (scene.hasFragmentation) drawShareAxis(plot);
  const drawOver = () => {
    drawStepLines(plot, lanes);
    drawBreaks(plot);
    drawMark(plot, scene.mark);
    if (scene.isPeakChosen) drawStem(plot, peak);
    else drawCursor(plot, scene.chosen, colors.accent, 1.5, GUTTERS.top);
    drawCursor(plot, scene.hover, colors["ink-2"], 1, GUTTERS.top);
    if (peak.ps !== null) drawPeak(plot, peak.ps, peak.bytes, peakText(peak, unit));
  };
  clipped(plot, drawOver, GUTTERS.top);
}

function peakText({ bytes, step }, unit) {
  return `peak ${formatSize(bytes, unit)}${step === null ? "" : `, step ${groupDigits(step)}`}`;
}

function drawShareAxis(plot) {
  const { context, colors, top, height, right } = plot;
  context.fillStyle = colors["mem-fragmentation"];
  context.textBaseline = "middle";
  for (const percent of [0, 25, 50, 75, 100]) {
    context.fillText(`${percent} %`, right + 5, besideFrame(plot, top + height * (1 - percent / 100)));
  }
  drawSideways(context, "Fragmentation (%)", right + GUTTER_RIGHT - 8, top + height / 2);
}

function drawLane({ context, colors, view, axis, left, width }, lane, top, run) {
  context.textBaseline = "middle";
  context.textAlign = "right";
  context.fillStyle = colors["ink-3"];
  const middle = top + LANE_HEIGHT / 2 - 1;
  context.fillText(fitText(context, lane.label, GUTTER_LEFT - 12) || lane.label, left - 6, middle);
  context.textAlign = "left";
  for (const box of boxesIn(lane.bands, view.x, width, axis)) {
    const isChosen = bandKey(lane, box.index) === run;
    drawBand({ context, colors }, lane, box, { x: left + box.x0, y: top, isChosen });
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
function drawStepLines({ context, colors, view, axis, width, height, top, toX }, lanes) {
  const steps = lanes.find((lane) => lane.kind === "steps");
  if (!steps) return;
  const boxes = boxesIn(steps.bands, view.x, width, axis);
  if (boxes.length * LEAST_STEP_LINES > width || boxes.some((box) => box.merged > 0)) return;
  context.fillStyle = colors["ink-3"];
  context.globalAlpha = 0.35;
  for (const { index } of boxes) context.fillRect(Math.round(toX(steps.bands.begin[index])), top, 1, height);
  context.globalAlpha = 1;
}

/** The peak is chosen: marked from above, so that the line does not hide the peak itself. */
function drawStem(plot, peak) {
  if (peak.ps === null) return;
  const below = Math.max(0, peakY(plot, peak.bytes) - 6 - GUTTERS.top);
  plot.context.fillStyle = plot.colors.accent;
  plot.context.fillRect(plot.toX(peak.ps) - 0.75, GUTTERS.top, 1.5, below);
}
