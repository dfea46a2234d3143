// @ts-check
// Where the plot of free memory stands: below the timeline, on the same columns. Pure.
import { GUTTERS } from "../../layout/frame.js";
import { range } from "../../../../base/range.js";

export const FREE_GUTTERS = { ...GUTTERS, top: 10 };

/** From nothing free up to the most that is free in the window. */
export function freeHeights(steps) {
  let most = 1;
  for (const step of steps) most = Math.max(most, step.free);
  return range(0, most * 1.06);
}
