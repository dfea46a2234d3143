// @ts-check
// One search for the icicle (what does not match is faded) and the table (it is left out).
import { el } from "../../../base/dom.js";

export function createSearchBox(state) {
  const field = el("input", {
    type: "search",
    id: "search",
    placeholder: "Search function or file  /",
    "aria-label": "search frames by function or file",
    spellcheck: "false",
    title: "Function or file; text or a regular expression",
  });
  const node = el("span", { class: "search" }, field);

  function show() {
    if (document.activeElement !== field) field.value = state.get().query;
  }

  field.addEventListener("input", () => state.actions.search(field.value));
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    field.value = "";
    state.actions.search("");
    field.blur();
  });
  const stop = state.watch(["query"], show);
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
