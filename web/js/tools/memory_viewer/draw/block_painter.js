// @ts-check
// The timeline's blocks: pixels, then the names that fit.
import { toPixel } from "../../../base/axes.js";
import { fitCanvas, fitText } from "../../../base/canvas.js";
import { palette } from "../../../base/palette.js";
import { laneWords } from "../data/block_words.js";
import { labelOf } from "../data/labels.js";
import { nothingDrawn, rasterBlocks } from "../layout/raster.js";
import { partsInWindow, wholeBars } from "../layout/shown_blocks.js";
import { isFadedStyle, plainStyle } from "./block_styles.js";

const BLOCKS_PER_STEP = 1 << 14;
const NAME_COLOR = "#14181c";
const NAME_WIDTH = 58;
const NAME_HEIGHT = 13;

/**
 * @typedef {{model: any, blocks: import("../layout/blocks.js").Blocks, index: any, folded: Set<string>,
 *            view: {x: any, y: any}, colors: any, ofBlock: Uint8Array, unit: string, isNamed: boolean,
 *            groupOf: import("../data/labels.js").GroupOfRow | null}} Scene  `isNamed`: with the names that fit
 */

/** Keeps its ImageData between frames. `paint` goes in steps (base/slices.js) and shows the blocks after the last. */
export function createBlockPainter(canvas) {
  let image = null;
  let pixels = null;

  /** @param {Scene} scene */
  function* paint(scene) {
    const { blocks, index, folded, view, colors, ofBlock } = scene;
    const { context, width, height, ratio } = fitCanvas(canvas, true);
    if (!image || image.width !== canvas.width || image.height !== canvas.height) {
      image = context.createImageData(canvas.width, canvas.height);
      pixels = new Uint32Array(image.data.buffer);
    }
    pixels.fill(colors.background);
    const labels = scene.isNamed ? { labelWidth: NAME_WIDTH * ratio, labelHeight: NAME_HEIGHT * ratio } : {};
    const target = { width: canvas.width, height: canvas.height, pixels, ...labels };
    const drawn = nothingDrawn();
    for (const part of partsInWindow(blocks, index, view.x, folded, BLOCKS_PER_STEP)) {
      rasterBlocks(blocks, view, target, { ...colors, ofBlock }, part, drawn);
      yield;
    }
    const bars = wholeBars(blocks, folded);
    const barStyles = Uint8Array.from(bars.of, (bar) => barStyle(bar, ofBlock));
    const whole = rasterBlocks(bars, view, target, { ...colors, ofBlock: barStyles });
    context.putImageData(image, 0, 0);
    const write = nameWriter(context, view, width, height);
    for (const i of drawn.large) write(blocks, i, labelOf(scene.model, blocks.row[i], scene.groupOf), ofBlock[i]);
    for (const i of whole.large) write(bars, i, laneWords(bars.of[i].lane, scene.unit), barStyles[i]);
    return drawn;
  }

  return { paint };
}

/** Faded where all that it stands for is, or is not known. */
function barStyle({ lane, first, end }, ofBlock) {
  return plainStyle(lane.category, ofBlock.subarray(first, end).every(isFadedStyle));
}

function nameWriter(context, view, width, height) {
  context.textBaseline = "middle";
  const colors = palette();
  return ({ x0, x1, y0, y1 }, i, name, style) => {
    const left = Math.max(0, toPixel(x0[i], view.x, width));
    const right = Math.min(width, toPixel(x1[i], view.x, width));
    const top = Math.max(0, height - toPixel(y1[i], view.y, height));
    const bottom = Math.min(height, height - toPixel(y0[i], view.y, height));
    const text = fitText(context, name, right - left - 8);
    if (!text) return;
    context.fillStyle = isFadedStyle(style) ? colors["ink-3"] : NAME_COLOR;
    context.fillText(text, left + 4, (top + bottom) / 2);
  };
}
