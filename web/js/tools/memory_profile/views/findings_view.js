// @ts-check
// The findings of one memory, asked for once: they need a walk over all of its events.
import { createFindingList } from "../../../base/finding_list.js";
import { errorLine } from "../../../shell/messages.js";
import { findingRows } from "../data/findings.js";

/** @param {{fetch: (signal: AbortSignal) => Promise<any>, onOpen: (finding: any) => void}} options */
export function createFindings({ fetch, onOpen }) {
  const controller = new AbortController();
  const { node, show, next } = createFindingList(onOpen);
  node.setAttribute("aria-busy", "true");

  async function load() {
    try {
      show(findingRows((await fetch(controller.signal)).findings));
    } catch (error) {
      if (error.name === "AbortError") return;
      node.replaceChildren(errorLine(error));
    }
    node.removeAttribute("aria-busy");
  }

  return { node, load, next, dispose: () => controller.abort() };
}
