// @ts-check
// The pieces of the Advice panel that other places show as well.
import { el } from "../../../base/dom.js";

/** Whether the program computes the same afterwards. @param {boolean | null} changes */
export function numericsNode(changes, words = ["same numerics", "changes numerics"]) {
  if (changes === null) return null;
  return el(
    "span",
    {
      class: changes ? "numerics changed" : "numerics",
      title: changes ? "The program computes something else afterwards" : "The program computes the same as before",
    },
    words[Number(changes)],
  );
}

/** A field for a figure of the address; what it does not take is marked and left out. */
export function paramField(params, key, { label, size, placeholder, title, accepts }) {
  const field = el("input", {
    type: "text",
    id: `advice-${key}`,
    size,
    placeholder,
    title,
    spellcheck: "false",
    autocomplete: "off",
  });
  const isTaken = (text) => text === "" || accepts(text);
  const mark = () => field.setAttribute("aria-invalid", String(!isTaken(field.value.trim())));
  const show = () => {
    if (document.activeElement !== field) field.value = params.get()[key] ?? "";
    mark();
  };
  const take = () => {
    const text = field.value.trim().replaceAll(" ", "");
    mark();
    if (isTaken(text)) params.set({ [key]: text === "" ? null : text });
  };
  field.addEventListener("change", take);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take();
    if (event.key === "Escape") field.blur();
  });
  const stop = params.watch([key], show);
  show();
  return { node: el("label", { class: "advice-field" }, `${label} `, field), stop };
}
