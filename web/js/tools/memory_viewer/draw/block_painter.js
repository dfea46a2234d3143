// @ts-check
// The timeline's blocks: pixels, then the names that fit.
import { fitCanvas } from "../../../base/canvas.js";
import { nothingDrawn, rasterBlocks } from "../layout/raster.js";
import { partsInWindow, wholeBars } from "../layout/shown_blocks.js";
import { NAME_HEIGHT, NAME_WIDTH, barNames, blockNames, writeNames } from "./block_names.js";
import { barStyles } from "./block_styles.js";

const BLOCKS_PER_STEP = 1 << 14;

/** Keeps its ImageData between frames. `paint` goes in steps (base/slices.js) and shows the blocks after the last. */
export function createBlockPainter(canvas) {
  let image = null;
  let pixels = null;

  /** @param {import("./block_scene.js").Scene} scene */
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
    const styles = barStyles(bars.of, ofBlock);
    const { large } = rasterBlocks(bars, view, target, { ...colors, ofBlock: styles });
    context.putImageData(image, 0, 0);
    const { large: named } = drawn;
    writeNames(context, scene, { blocks, styles: ofBlock, large: named }, width, height, blockNames(scene));
    writeNames(context, scene, { blocks: bars, styles, large }, width, height, barNames(bars, scene.unit));
    return drawn;
  }

  return { paint };
}
