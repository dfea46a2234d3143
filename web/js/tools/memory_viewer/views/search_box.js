// @ts-check
// One search for all charts and the table: what does not match is dimmed there and left out here.
import { el, setText } from "../../../base/dom.js";
import { groupDigits } from "../../../base/format.js";
import { countFlags } from "../data/search.js";

export function createSearchBox(state) {
  const field = el("input", {
    type: "search",
    id: "search",
    placeholder: "Search op name  /",
    "aria-label": "search buffers by op name, shape or source",
    spellcheck: "false",
    title: "Instruction, framework op, opcode, shape or source; text or a regular expression. Enter: next match",
  });
  const found = el("span", { class: "found", role: "status" });
  const node = el("span", { class: "search" }, field, found);

  function show() {
    const { query, flags } = state.get();
    if (document.activeElement !== field) field.value = query;
    setText(found, flags ? `${groupDigits(countFlags(flags))} of ${groupDigits(state.model.count)}` : "");
  }

  field.addEventListener("input", () => state.actions.search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") state.actions.nextMatch(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    field.value = "";
    state.actions.search("");
    field.blur();
  });
  const stop = state.watch(["query", "flags"], show);
  show();
  return {
    node,
    focus() {
      field.focus();
      field.select();
    },
    dispose: stop,
  };
}
