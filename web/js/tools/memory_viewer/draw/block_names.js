// @ts-check
// The names in the timeline's blocks and bars: who holds the block, then its HLO name; of a bar what it stands for.
import { toPixel } from "../../../base/axes.js";
import { fitText } from "../../../base/canvas.js";
import { palette } from "../../../base/palette.js";
import { laneWords } from "../data/block_words.js";
import { labelOf } from "../data/labels.js";
import { isFadedStyle } from "./block_styles.js";

export const NAME_WIDTH = 58; // pixels that a name needs at least
export const NAME_HEIGHT = 13;
const NAME_COLOR = "#14181c";

/** Where a block stands in so many pixels, cut to what is in sight. */
export function boxIn({ x0, x1, y0, y1 }, i, view, width, height) {
  return {
    left: Math.max(0, toPixel(x0[i], view.x, width)),
    right: Math.min(width, toPixel(x1[i], view.x, width)),
    top: Math.max(0, height - toPixel(y1[i], view.y, height)),
    bottom: Math.min(height, height - toPixel(y0[i], view.y, height)),
  };
}

/**
 * @param {any} context @param {import("./block_scene.js").Scene} scene
 * @param {{blocks: any, styles: Uint8Array, large: number[]}} of of the blocks, or of the bars
 * @param {(i: number) => string} nameOf
 */
export function writeNames(context, { view }, { blocks, styles, large }, width, height, nameOf) {
  const colors = palette();
  context.textBaseline = "middle";
  for (const i of large) {
    const { left, right, top, bottom } = boxIn(blocks, i, view, width, height);
    const text = fitText(context, nameOf(i), right - left - 8);
    if (!text) continue;
    context.fillStyle = isFadedStyle(styles[i]) ? colors["ink-3"] : NAME_COLOR;
    context.fillText(text, left + 4, (top + bottom) / 2);
  }
}

/** @param {import("./block_scene.js").Scene} scene */
export const blockNames = ({ model, blocks, groupOf }) => (i) => labelOf(model, blocks.row[i], groupOf);

export const barNames = ({ of }, unit) => (i) => laneWords(of[i].lane, unit);
