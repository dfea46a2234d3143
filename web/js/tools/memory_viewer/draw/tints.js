// @ts-check
// Neighbours that one group holds share a tint within their category's hue, in the bars and in the timeline.
import { mixRgb } from "../../../base/palette.js";

/** How far from the hue towards white: of the largest group, the next, ... */
const TINTS = [0, 0.4, 0.2, 0.55];
const WHITE = [255, 255, 255];

export const TINT_COUNT = TINTS.length;

/** @param {number} group its place among the groups, -1 for none */
export function tintOf(group) {
  return group < 0 ? 0 : group % TINTS.length;
}

/** @param {number[]} hue @param {number} tint */
export function tinted(hue, tint) {
  return TINTS[tint] === 0 ? hue : mixRgb(hue, WHITE, TINTS[tint]);
}
