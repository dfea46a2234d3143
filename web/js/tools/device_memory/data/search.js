// @ts-check
// Searching the frames: by function or by file, and how much the found ones hold. Pure.
import { matcher } from "../../../base/text_match.js";
import { functionFile, functionName } from "./model.js";

/** @returns {Uint8Array | null} one flag per function, or null when nothing is searched */
export function matchFunctions(model, query) {
  const test = matcher(query);
  if (!test) return null;
  const count = model.reply.functions.name.length;
  return Uint8Array.from({ length: count }, (_, fn) =>
    test(functionName(model, fn)) || test(functionFile(model, fn)) ? 1 : 0,
  );
}

/** The sum of `totals` over the stacks that pass through a found frame: each counted once. */
export function foundTotal(model, flags, totals) {
  let sum = 0;
  for (let node = 1; node < model.count; ) {
    const found = flags[model.functionOf[node]] === 1;
    if (found) sum += totals[node];
    node = found ? model.end[node] : node + 1;
  }
  return sum;
}
