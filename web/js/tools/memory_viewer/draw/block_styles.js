// @ts-check
// The colours of the timeline's blocks as pixels: one hue (they are all temporary), a few shades so that neighbours
// stay apart, and the same faded for what a search or a chosen step leaves out.
import { mixRgb, palette, pixelOf, rgbOf } from "../../../base/palette.js";
import { isLive } from "../data/live.js";

const SHADES = [0, 0.11, 0.22, 0.33];
const WHITE = [255, 255, 255];
const FADE = 0.78;

export function blockColors() {
  const colors = palette();
  const base = rgbOf(colors["cat-temporary"]);
  const background = rgbOf(colors.bg);
  const shades = SHADES.map((share) => mixRgb(base, WHITE, share));
  const faded = shades.map((shade) => mixRgb(shade, background, FADE));
  const all = [...shades, ...faded];
  return {
    background: pixelOf(background),
    fill: Uint32Array.from(all, (rgb) => pixelOf(rgb)),
    edge: Uint32Array.from(all, (rgb) => pixelOf(mixRgb(rgb, background, 0.55))),
  };
}

export function isFadedStyle(style) {
  return style >= SHADES.length;
}

/** Style number of each block; `flags` (of a search) and `onlyLiveAt` (a step) say which are faded, null for none. */
export function blockStyles(model, blocks, { flags, onlyLiveAt }) {
  const { row: rows, count } = blocks;
  const styles = new Uint8Array(count);
  for (let i = 0; i < count; i += 1) {
    const row = rows[i];
    const shade = (row * 7) % SHADES.length;
    const out = (flags !== null && flags[row] === 0) || (onlyLiveAt !== null && !isLive(model, row, onlyLiveAt));
    styles[i] = out ? shade + SHADES.length : shade;
  }
  return styles;
}
