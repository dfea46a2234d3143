// @ts-check
// A part of the page with a line above it: what it is called, its figures, its buttons, and what it can be saved as.
import { el } from "./dom.js";
import { saveMenu } from "./save_menu.js";

/**
 * @param {string | Node} title @param {any[]} head what stands beside it @param {object} options of the section
 * @param {import("./save_menu.js").Saves | null} saves of a chart, which is pictured as a whole
 */
export function chartSection(title, head, content, options = {}, saves = null) {
  const menu = saves && saveMenu({ picture: () => node, ...saves });
  const line = el("div", { class: "chart-head" }, el("h2", {}, title), ...head, menu);
  const node = el("section", { class: "chart", ...options }, line, ...content);
  return node;
}
