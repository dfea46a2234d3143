// @ts-check
/**
 * The two curves and their axes, drawn by uPlot. The scene says at any time what is in view:
 * @typedef {{range: () => import("../../../base/range.js").Range, yMax: () => number, unit: () => string}} Scene
 */
import uPlot from "/vendor/uplot.js";
import { byteTicks } from "../../../base/axes.js";
import { groupDigits, pickAxisUnit, tickText } from "../../../base/format.js";
import { palette } from "../../../base/palette.js";
import { clipped, drawByteAxis, drawSteps, drawXAxis, openPlot } from "../../../base/plot.js";
import { range } from "../../../base/range.js";
import { GUTTER_LEFT, GUTTER_RIGHT, stepTicks } from "../layout/axes.js";

export const CURVE_HEIGHT = 204;
const LEAST_WIDTH = 200;
const AXES_HEIGHT = 60;
const LABEL_WIDTH = 18;
const FONT = "11px system-ui";

/** Each value holds until the next step. */
const stepped = uPlot.paths.stepped({ align: 1 });

/** @param {HTMLElement} holder @param {Scene} scene @param {any} samples */
export function createPlot(holder, scene, samples) {
  return new uPlot(plotOptions(holder, scene), samples, holder);
}

export function resizePlot(plot, holder) {
  plot.setSize({ width: Math.max(LEAST_WIDTH, holder.clientWidth), height: CURVE_HEIGHT });
}

/** @returns {any} */
function plotOptions(holder, scene) {
  const { begin, end } = scene.range();
  return {
    width: Math.max(LEAST_WIDTH, holder.clientWidth),
    height: CURVE_HEIGHT,
    padding: [10, GUTTER_RIGHT, 0, 0],
    legend: { show: false },
    cursor: { show: false },
    pxAlign: 1,
    scales: {
      x: { time: false, min: begin, max: end, range: (_, min, max) => [min, max] },
      y: { range: () => [0, scene.yMax()] },
    },
    axes: [stepAxis(scene), byteAxis(scene)],
    series: [{}, unpaddedSeries(), paddedSeries()],
  };
}

function stepAxis(scene) {
  return {
    ...axisLook(),
    label: "Program Order",
    size: 20,
    labelSize: 14,
    gap: 2,
    splits: (plot) => stepTicks(scene.range(), plot.width - GUTTER_LEFT - GUTTER_RIGHT),
    values: (_, steps) => steps.map(groupDigits),
  };
}

function byteAxis(scene) {
  const unit = () => pickAxisUnit(scene.yMax(), scene.unit());
  return {
    ...axisLook(),
    label: "Allocated Heap Size",
    size: GUTTER_LEFT - LABEL_WIDTH,
    labelSize: LABEL_WIDTH,
    splits: (plot) => byteTicks(range(0, scene.yMax()), plot.height - AXES_HEIGHT, unit()),
    values: (_, sizes) => sizes.map((bytes) => tickText(bytes, unit(), 2)),
  };
}

function axisLook() {
  const colors = palette();
  const grid = { stroke: colors.line, width: 1 };
  return { stroke: colors["ink-3"], grid, ticks: { show: false }, font: FONT, labelFont: FONT, labelGap: 0 };
}

function unpaddedSeries() {
  return { stroke: palette().accent, width: 1.5, dash: [4, 3], paths: stepped, points: { show: false } };
}

/** Drawn last, on top; its fill lets the other curve through. */
function paddedSeries() {
  const colors = palette();
  return { stroke: colors.curve, fill: colors["curve-fill"], width: 1.5, paths: stepped, points: { show: false } };
}

/**
 * The same without uPlot, on a surface that is no canvas: uPlot's paths are known to canvases alone.
 * @param {Scene} scene
 */
export function drawCurves(surface, plot, scene) {
  const ratio = plot.ctx.canvas.width / plot.width;
  const [left, top, width, height] = ["left", "top", "width", "height"].map((key) => plot.bbox[key] / ratio);
  const gutters = { left, right: plot.width - left - width, top, below: plot.height - top - height };
  const view = { x: scene.range(), y: range(0, scene.yMax()) };
  const drawn = openPlot(surface, gutters, view);
  drawXAxis(drawn, stepTicks(view.x, width), groupDigits, "Program Order");
  drawByteAxis(drawn, scene.unit(), "Allocated Heap Size", true);
  const [x, unpadded, padded] = plot.data;
  const { colors } = drawn;
  clipped(drawn, () => {
    drawSteps(drawn, { x, y: unpadded }, { color: colors.accent, dash: [4, 3] });
    drawSteps(drawn, { x, y: padded }, { color: colors.curve, fill: colors["curve-fill"] });
  });
}
