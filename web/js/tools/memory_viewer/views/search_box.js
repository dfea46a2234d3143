// @ts-check
// One search for all charts and the table: what does not match is dimmed there and left out here.
import { el, setText } from "../../../base/dom.js";
import { groupDigits } from "../../../base/format.js";
import { createSearchBox } from "../../../base/search_box.js";
import { together } from "../../../base/upkeep.js";
import { countFlags } from "../data/search.js";

export function createSearch(state) {
  const count = el("span", { class: "found", role: "status" });
  const box = createSearchBox(state, "query", {
    onEnter: state.actions.nextMatch,
    id: "search",
    placeholder: "Search op name  /",
    label: "search buffers by op name, shape or source",
    title:
      "Instruction, framework op, opcode, shape or source; text or a regular expression. " +
      "type:donated: all of that type. Enter: next match",
  });

  function show() {
    const { found: flags } = state.get();
    const known = flags && state.model.isWhole;
    setText(count, known ? `${groupDigits(countFlags(flags))} of ${groupDigits(state.model.count)}` : "");
  }

  const stop = state.watch(["found"], show);
  show();
  const node = el("span", { class: "search" }, box.node, count);
  return { node, focus: box.focus, dispose: together(box.dispose, stop) };
}
