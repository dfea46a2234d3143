// @ts-check
// The timeline's blocks as vectors, for a picture that is saved (base/picture): the same blocks as block_painter.js
// draws, a rectangle each.
import { fitCanvas } from "../../../base/canvas.js";
import { partsInWindow, wholeBars } from "../layout/shown_blocks.js";
import { NAME_HEIGHT, NAME_WIDTH, barNames, blockNames, boxIn, writeNames } from "./block_names.js";
import { barStyles, cssOf } from "./block_styles.js";

const EDGED = 4; // pixels from which on a block has an edge

/** @param {any} surface @param {import("./block_scene.js").Scene} scene */
export function drawBlockVectors(surface, scene) {
  const { context, width, height } = fitCanvas(surface);
  const { blocks, index, folded, view, colors, ofBlock } = scene;
  const pen = { context, width, height, view, colors };
  const parts = partsInWindow(blocks, index, view.x, folded, Infinity);
  const places = parts.flatMap(({ begin, end, of }) =>
    Array.from({ length: end - begin }, (_, at) => (of ? of[begin + at] : begin + at)),
  );
  const bars = wholeBars(blocks, folded);
  const drawn = { blocks, styles: ofBlock, large: drawAll(pen, blocks, places, ofBlock) };
  const styles = barStyles(bars.of, ofBlock);
  const whole = { blocks: bars, styles, large: drawAll(pen, bars, [...bars.of.keys()], styles) };
  writeNames(context, scene, drawn, width, height, blockNames(scene));
  writeNames(context, scene, whole, width, height, barNames(bars, scene.unit));
}

/** @returns {number[]} those with room for a name */
function drawAll({ context, width, height, view, colors }, blocks, places, styles) {
  const large = [];
  for (const i of places) {
    const { left, right, top, bottom } = boxIn(blocks, i, view, width, height);
    if (left >= width || right < 0 || top >= height || bottom < 0 || right < left || bottom < top) continue;
    const [wide, high] = [Math.max(1, right - left), Math.max(1, bottom - top)];
    context.fillStyle = cssOf(colors.fill[styles[i]]);
    context.fillRect(left, top, wide, high);
    if (wide >= NAME_WIDTH && high >= NAME_HEIGHT) large.push(i);
    if (wide < EDGED || high < EDGED) continue;
    context.fillStyle = cssOf(colors.edge[styles[i]]);
    context.fillRect(left, top, wide, 1);
    context.fillRect(right - 1, top, 1, high);
  }
  return large;
}
