// @ts-check
// A field that searches while one types; Escape empties it and lets go. The text is kept by a state that views share.
import { el, leaveField } from "./dom.js";

/**
 * @param {any} state whose actions.search takes the text @param {string} key its name there
 * @param {{placeholder: string, label: string, title?: string, id?: string, className?: string,
 *          onEnter?: (direction: number) => void}} options
 */
export function createSearchBox(state, key, { placeholder, label, title, id, className, onEnter }) {
  const { search } = state.actions;
  const field = el("input", {
    type: "search",
    id,
    class: className,
    placeholder,
    title,
    "aria-label": label,
    spellcheck: "false",
    on: { input: () => search(field.value), keydown: onKeyDown },
  });

  function onKeyDown(event) {
    if (event.key === "Enter") onEnter?.(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    field.value = "";
    search("");
    leaveField(field);
  }

  function show() {
    if (document.activeElement !== field) field.value = state.get()[key];
  }

  function focus() {
    field.focus();
    field.select();
  }

  const dispose = state.watch([key], show);
  show();
  return { node: field, focus, dispose };
}
