// @ts-check
// A table whose few rows all stand in the page.
import { el } from "./dom.js";

/** @param {object} options of the table @param {string[][]} heads [text, class] @param {any[]} rows */
export function plainTable(options, heads, rows) {
  const head = el("tr", {}, ...heads.map(([text, key]) => el("th", { scope: "col", class: key ?? null }, text)));
  return el("table", options, el("thead", {}, head), el("tbody", {}, ...rows));
}
