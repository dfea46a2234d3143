// @ts-check
// One part of what is said about a message, under its own heading.
import { el } from "../../../base/dom.js";
import { saveMenu } from "../../../base/save_menu.js";

export function part(heading, ...content) {
  return el("section", { class: "oom-part" }, el("h3", {}, heading), ...content);
}

/** With a table that can be saved. @param {import("../../../base/save_menu.js").Table} table */
export function tablePart(heading, table, ...content) {
  const saves = saveMenu({ what: heading, table });
  const head = el("div", { class: "chart-head" }, el("h3", {}, heading), saves);
  return el("section", { class: "oom-part" }, head, ...content);
}
