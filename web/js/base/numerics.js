// @ts-check
// The mark of a change that alters what the program computes.
import { el } from "./dom.js";

/** Whether the program computes the same afterwards. @param {boolean} changes */
export function numericsNode(changes, words = ["same numerics", "changes numerics"]) {
  return el(
    "span",
    {
      class: changes ? "numerics changed" : "numerics",
      title: changes ? "The program computes something else afterwards" : "The program computes the same as before",
    },
    words[Number(changes)],
  );
}
