// @ts-check
// What to change, the most bytes first; where bytes are not known the server's order stands, which is by likelihood.
import { compareValues } from "../../../base/sorting.js";

export function rankedFixes({ fixes }) {
  return [...fixes].sort((a, b) => compareValues(a.saves_bytes, b.saves_bytes, -1));
}
