// @ts-check
// A part of the page with a line above it: what it is called, its figures, its buttons.
import { el } from "./dom.js";

/** @param {string | Node} title @param {any[]} head what stands beside it @param {object} options of the section */
export function chartSection(title, head, content, options = {}) {
  const line = el("div", { class: "chart-head" }, el("h2", {}, title), ...head);
  return el("section", { class: "chart", ...options }, line, ...content);
}
