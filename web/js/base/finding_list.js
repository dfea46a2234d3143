// @ts-check
/**
 * What to know first, a sentence each, the heaviest first; a click goes where it can be seen.
 * @typedef {{kind: string, text: string, weight: string}} Finding failure, warning or fact; and what `onOpen` needs
 */
import { button, el } from "./dom.js";

/** @param {(finding: any) => void} onOpen */
export function createFindingList(onOpen) {
  const list = el("ul", { class: "finding-list" });
  const node = el("section", { class: "findings", "aria-label": "findings" }, list);
  let last = -1;

  /** @param {Finding[]} rows */
  function show(rows) {
    list.replaceChildren(...rows.map(entry));
    node.hidden = rows.length === 0;
    last = -1;
  }

  function entry(row, i) {
    const open = () => {
      last = i;
      onOpen(row);
    };
    return el("li", {}, button(row.text, open, { class: `finding is-${row.weight}`, data: { finding: row.kind } }));
  }

  /** Around, and the focus with it. */
  function next(delta) {
    const entries = [...list.querySelectorAll("button")];
    if (entries.length === 0) return;
    last = last < 0 && delta < 0 ? entries.length - 1 : (last + delta + entries.length) % entries.length;
    entries[last].focus({ preventScroll: true });
    entries[last].click();
  }

  return { node, show, next };
}
