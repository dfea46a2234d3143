// @ts-check
// One part of what is said about a message, under its own heading.
import { el } from "../../../base/dom.js";

export function part(heading, ...content) {
  return el("section", { class: "oom-part" }, el("h3", {}, heading), ...content);
}
