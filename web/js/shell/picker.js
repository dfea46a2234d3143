// @ts-check
// A labelled select of the side panel: "Sessions (29)".
import { el, setText } from "../base/dom.js";

/**
 * @param {string} noun
 * @param {(value: string) => void} onPick
 */
export function createPicker(noun, onPick, extra = null) {
  const id = `pick-${noun.toLowerCase().replaceAll(" ", "-")}`;
  const label = el("label", { for: id, class: "side-title" }, noun);
  const select = el("select", { id, on: { change: () => onPick(select.value) } });
  const note = el("div", { class: "side-note" });
  const node = el("div", { class: "side-section" }, el("div", { class: "side-head" }, label, extra), select, note);

  /**
   * Nothing to pick, and no other way to get something: only the notes are there.
   * @param {{value: string, label: string, why?: string}[]} options `why`: there is nothing in it, and why; it can
   *     be picked all the same, and says more then
   */
  function show(options, value, { count = options.length, notes = [] } = {}) {
    setText(label, `${noun} (${count})`);
    const known = options.some((option) => option.value === value);
    const shown =
      known || value === null ? options : [{ value, label: `${value} (not found)` }, ...options];
    select.replaceChildren(
      ...shown.map(optionNode),
    );
    select.value = value ?? "";
    select.disabled = shown.length === 0;
    select.hidden = label.hidden = shown.length === 0 && extra === null;
    node.hidden = select.hidden && notes.length === 0;
    select.title = select.selectedOptions[0]?.textContent ?? "";
    note.replaceChildren(...notes.map((text) => el("p", { title: text }, text)));
  }

  return { node, show };
}

function optionNode({ value, label, why = "" }) {
  if (!why) return el("option", { value }, label);
  return el("option", { value, class: "without", title: `${label}: ${why}` }, `${label}: ${why}`);
}
