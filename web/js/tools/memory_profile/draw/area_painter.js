// @ts-check
// The plot of the timeline: pixels made by layout/area_raster.js, put on the canvas at once.
import { mixRgb, palette, pixelOf, rgbOf } from "../../../base/palette.js";
import { createColumns, fillColumns } from "../layout/columns.js";
import { rasterAreas, rasterLine } from "../layout/area_raster.js";

export const OVER_COLORS = 6;
const BAND_SHARE = 0.45;
const OVER_SHARE = 0.3; // of what lies over another area
const FRAGMENTATION_SHARE = 0.14;

/** The colours of the present theme. */
export function areaInks() {
  const colors = palette();
  const rgb = (name) => rgbOf(colors[name]);
  const plain = {
    background: rgb("bg"),
    stack: rgb("mem-stack"),
    heap: rgb("mem-heap"),
    band: mixRgb(rgb("mem-heap"), rgb("bg"), BAND_SHARE),
    free: rgb("mem-free"),
  };
  const shade = (area) => mixRgb(area, rgb("mem-fragmentation"), FRAGMENTATION_SHARE);
  return {
    plain: eachArea(plain, (area) => pixelOf(area)),
    shaded: eachArea(plain, (area) => pixelOf(shade(area))),
    line: pixelOf(rgb("mem-line")),
    fragmentation: pixelOf(rgb("mem-fragmentation")),
    over: Array.from({ length: OVER_COLORS }, (_, i) => {
      const color = rgb(`over-${i + 1}`);
      return { line: pixelOf(color), blend: blendWith(color, OVER_SHARE) };
    }),
  };
}

/** @returns {any} */
function eachArea(areas, change) {
  return Object.fromEntries(Object.entries(areas).map(([name, area]) => [name, change(area)]));
}

/** A share of a colour upon a pixel. */
function blendWith([red, green, blue], share) {
  const mix = (below, value) => (below + (value - below) * share) & 255;
  return (under) =>
    ((255 << 24) |
      (mix((under >>> 16) & 255, blue) << 16) |
      (mix((under >>> 8) & 255, green) << 8) |
      mix(under & 255, red)) >>>
    0;
}

/** Keeps its pixels and columns between frames. */
export function createAreaPainter(canvas) {
  let image = null;
  let pixels = new Uint32Array(0);
  let columns = null;

  /**
   * @param {{curves: any[], over: any[][], view: any, axis: any, inks: any}} scene `over`: curves of others drawn over
   */
  function paint({ curves, over, view, axis, inks }) {
    const ratio = fit();
    const target = { width: canvas.width, height: canvas.height, pixels, ratio };
    rasterAreas(fillColumns(columns, curves, view.x, axis), view.y, target, inks);
    over.forEach((one, i) =>
      rasterLine(fillColumns(columns, one, view.x, axis), view.y, target, inks.over[i % OVER_COLORS]),
    );
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  function fit() {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(canvas.clientWidth * ratio));
    const height = Math.max(1, Math.round(canvas.clientHeight * ratio));
    if (!image || canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      image = canvas.getContext("2d").createImageData(width, height);
      pixels = new Uint32Array(image.data.buffer);
      columns = createColumns(width);
    }
    return ratio;
  }

  return { paint, columnCount: () => Math.round(canvas.clientWidth * (window.devicePixelRatio || 1)) };
}
