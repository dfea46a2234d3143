// @ts-check
/**
 * The colours of the timeline's blocks as pixels: the hue of the category, a tint by who holds the block (tints.js),
 * and the same faded for what a search, a pinned group or a chosen step leaves out.
 *
 *     style = (category * TINT_COUNT + tint) * 2 + (faded ? 1 : 0)
 */
import { mixRgb, palette, pixelOf, rgbOf } from "../../../base/palette.js";
import { CATEGORIES } from "../data/categories.js";
import { holderNumbers } from "../data/labels.js";
import { TINT_COUNT, tinted, tintOf } from "./tints.js";

const FADE = 0.78;
const EDGE = 0.55; // towards the background

export function blockColors() {
  const colors = palette();
  const background = rgbOf(colors.bg);
  const all = [];
  for (const { key } of CATEGORIES)
    for (let tint = 0; tint < TINT_COUNT; tint += 1) {
      const color = tinted(rgbOf(colors[`cat-${key}`]), tint);
      all.push(color, mixRgb(color, background, FADE));
    }
  return {
    background: pixelOf(background),
    fill: Uint32Array.from(all, (rgb) => pixelOf(rgb)),
    edge: Uint32Array.from(all, (rgb) => pixelOf(mixRgb(rgb, background, EDGE))),
  };
}

const styleOf = (category, tint, isFaded) => (category * TINT_COUNT + tint) * 2 + (isFaded ? 1 : 0);

export const isFadedStyle = (style) => (style & 1) === 1;

/** A pixel as a context takes colours. */
export const cssOf = (pixel) => `rgb(${[pixel, pixel >> 8, pixel >> 16].map((part) => part & 255).join(" ")})`;

/**
 * Of bars that stand for many blocks (layout/shown_blocks.js): faded where all of them are, or nothing is known.
 * @param {import("../layout/blocks.js").Band[]} bars @param {Uint8Array} ofBlock
 */
export function barStyles(bars, ofBlock) {
  return Uint8Array.from(bars, ({ lane, first, end }) =>
    styleOf(lane.category, 0, ofBlock.subarray(first, end).every(isFadedStyle)),
  );
}

/**
 * Style number of each block.
 * @param {any} model @param {import("../layout/blocks.js").Blocks} blocks
 * @param {{flags: Uint8Array | null, onlyLiveAt: number | null,
 *          groupOf: import("../data/labels.js").GroupOfRow | null}} look `flags` (of a search or a group) and
 *     `onlyLiveAt` (a step) say which are faded, null for none
 */
export function blockStyles(model, blocks, { flags, onlyLiveAt, groupOf }) {
  const { row: rows, count } = blocks;
  const { category, aliveBegin, aliveEnd } = model; // 500,000 blocks are styled within a frame
  const holders = holderNumbers(model, groupOf);
  const styles = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    const row = rows[i];
    const isElsewhere = onlyLiveAt !== null && (aliveBegin[row] > onlyLiveAt || onlyLiveAt >= aliveEnd[row]);
    styles[i] = styleOf(category[row], tintOf(holders[row]), isElsewhere || (flags !== null && flags[row] === 0));
  }
  return styles;
}
