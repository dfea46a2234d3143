// @ts-check
// A field that searches while one types; Escape empties it and lets go. The text is kept by whoever is asked: `get` and
// `set` it, `watch` calls back when it changed elsewhere.
import { el } from "./dom.js";

/**
 * @param {{get: () => string, set: (text: string) => void, watch: (show: () => void) => () => void,
 *          placeholder: string, label: string, title?: string, id?: string, className?: string,
 *          onEnter?: (direction: number) => void}} options
 */
export function createSearchBox({ get, set, watch, placeholder, label, title, id, className, onEnter }) {
  const field = el("input", {
    type: "search",
    id,
    class: className,
    placeholder,
    title,
    "aria-label": label,
    spellcheck: "false",
    on: { input: () => set(field.value), keydown: onKeyDown },
  });

  function onKeyDown(event) {
    if (event.key === "Enter") onEnter?.(event.shiftKey ? -1 : 1);
    if (event.key !== "Escape") return;
    event.stopPropagation();
    field.value = "";
    set("");
    field.blur();
  }

  function show() {
    if (document.activeElement !== field) field.value = get();
  }

  function focus() {
    field.focus();
    field.select();
  }

  const dispose = watch(show);
  show();
  return { node: field, focus, dispose };
}
