// @ts-check
// What to know first, a sentence each; a click, or the key for the next one, goes where it can be seen.
import { button, el } from "../../../base/dom.js";
import { errorLine } from "../../../shell/messages.js";
import { findingRows } from "../data/findings.js";

/** @param {{fetch: (signal: AbortSignal) => Promise<any>, onOpen: (finding: any) => void}} options */
export function createFindings({ fetch, onOpen }) {
  const controller = new AbortController();
  const list = el("ul", { class: "finding-list" });
  const node = el("section", { class: "findings", "aria-label": "findings", "aria-busy": "true" }, list);
  let rows = [];
  let last = -1;

  async function load() {
    try {
      rows = findingRows((await fetch(controller.signal)).findings);
      list.replaceChildren(...rows.map(entry));
      node.hidden = rows.length === 0;
    } catch (error) {
      if (error.name === "AbortError") return;
      node.replaceChildren(errorLine(error));
    }
    node.removeAttribute("aria-busy");
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

  return { node, load, next, dispose: () => controller.abort() };
}
