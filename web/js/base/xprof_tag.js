// @ts-check
// What XProf shows in the place of a figure, where that differs.
import { el } from "./dom.js";

/** @param {string} text @param {string} why @param {string} exact the same, as the tooltip has it */
export function xprofTag(text, why, exact = text) {
  const title = `XProf shows ${exact} here. ${why}`;
  return el("span", { class: "xprof-tag", tabindex: 0, title, role: "note" }, `XProf: ${text}`);
}
