// @ts-check
// A difference with its sign, in its own unit.
import { el } from "../../../base/dom.js";
import { exactBytes, formatSize } from "../../../base/format.js";

export function deltaFigure(delta) {
  const sign = delta > 0 ? "+" : "\u2212";
  const title = `${sign}${exactBytes(Math.abs(delta))}`;
  const kind = delta > 0 ? "more" : "less";
  return el("span", { class: `figure delta ${kind}`, title }, sign + formatSize(Math.abs(delta)));
}
