// @ts-check
// A text field for one word of the address, kept as it was typed: "15.75GiB" says more than its bytes.
import { el } from "./dom.js";
import { parseSize } from "./size_text.js";

/**
 * @param {any} params the page's (shell/params.js)
 * @param {string} key
 * @param {{id: string, label: string, title: string, size: number, placeholder?: string,
 *          accepts: (text: string) => boolean, clears?: boolean}} options what is not accepted is marked, and leaves
 *     the word as it is or `clears` it
 */
export function createParamField(params, key, { label, accepts, clears = false, ...attributes }) {
  const field = el("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    ...attributes,
    on: { change: take, keydown: onKeyDown },
  });

  function isTaken() {
    const text = field.value.trim();
    const taken = text === "" || accepts(text);
    field.setAttribute("aria-invalid", String(!taken));
    return taken;
  }

  function take() {
    const taken = isTaken();
    if (taken || clears) params.set({ [key]: (taken && field.value.replaceAll(" ", "")) || null });
  }

  function show() {
    if (document.activeElement === field) return;
    field.value = params.get()[key] ?? "";
    isTaken();
  }

  function onKeyDown(event) {
    if (event.key === "Enter") take();
    if (event.key === "Escape") field.blur();
  }

  const dispose = params.watch([key], show);
  show();
  return { node: el("label", { class: "param-field" }, `${label} `, field), field, dispose };
}

/** What the device has. What is no size leaves no verdict of an earlier one beside it. */
export function createCapacityField(params, { id, label = "capacity", placeholder = "15.75GiB", title }) {
  const accepts = (text) => parseSize(text) !== null;
  return createParamField(params, "capacity", { id, label, placeholder, title, size: 9, accepts, clears: true });
}
