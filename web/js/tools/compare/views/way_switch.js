// @ts-check
// "by [line | scope | ...]": how what changed is grouped. One stop for Tab; the arrow keys choose.
import { el } from "../../../base/dom.js";

const WAYS = [
  ["source", "line"],
  ["scope", "scope"],
  ["argument", "argument"],
  ["category", "category"],
  ["phase", "phase"],
  ["stack", "stack"],
  ["dtype", "dtype"],
  ["shape", "shape"],
  ["opcode", "opcode"],
];

export const isWay = (by) => WAYS.some(([way]) => way === by);

/** @param {string} by @param {(by: string) => void} choose */
export function createWays(by, choose) {
  const label = ([way, text]) => {
    const field = el("input", { type: "radio", name: "compare-by", value: way, on: { change: () => choose(way) } });
    field.checked = way === by;
    return el("label", { class: "way" }, field, el("span", {}, text));
  };
  return el("span", { class: "ways", role: "radiogroup", "aria-label": "group by" }, "by ", ...WAYS.map(label));
}
