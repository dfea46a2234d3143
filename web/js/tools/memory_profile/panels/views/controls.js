// @ts-check
// The controls that several panels have: a filter over ops, and CSV.
import { button, el } from "../../../../base/dom.js";
import { fileName, saveText } from "../../../../base/save_file.js";

/** XProf's filter over op names, kept in the address and the same in every panel. */
export function createOpFilter(state) {
  const field = el("input", {
    type: "search",
    class: "op-filter",
    placeholder: "Operation",
    "aria-label": "filter by op name",
    title: "Op name: text or a regular expression, in any case",
    spellcheck: "false",
    on: { input: () => state.set({ filter: field.value }), keydown: onKeyDown },
  });

  function onKeyDown(event) {
    if (event.key !== "Escape" || field.value === "") return;
    event.stopPropagation();
    field.value = "";
    state.set({ filter: "" });
  }

  function show() {
    if (document.activeElement !== field) field.value = state.get().filter ?? "";
  }

  const stop = state.watch(["filter"], show);
  show();
  return { node: field, dispose: stop };
}

/** `getText` may take its time; `what` names the table in the file's name. */
export function csvButton(context, what, getText) {
  return button(
    "CSV",
    async () => {
      const text = await getText();
      const { session, host, memoryId } = context.where;
      if (text !== null) saveText(fileName(session, host, memoryId, `${what}.csv`), text);
    },
    {
      class: "quiet small csv",
      title: `Save the table as CSV: all rows, exact figures`,
      "aria-label": `${what} as CSV`,
    },
  );
}
