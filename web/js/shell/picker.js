// @ts-check
// A labelled select of the side panel: "Sessions (29)". One of many has a field that narrows it as one types: then the
// matches stand open below it, arrows go through them, Enter picks one.
import { el, leaveField, setText } from "../base/dom.js";
import { matcher } from "../base/text_match.js";

const FEW = 12; // options that need no filter
const MOST_OPEN = 10; // matches in sight

/**
 * @param {string} noun
 * @param {(value: string) => void} onPick
 */
export function createPicker(noun, onPick, extra = null) {
  const id = `pick-${noun.toLowerCase().replaceAll(" ", "-")}`;
  const label = el("label", { for: id, class: "side-title" }, noun);
  const select = el("select", { id, on: { change: () => pick(select.value), keydown: onSelectKey } });
  const filter = el("input", {
    type: "search",
    id: `${id}-filter`,
    class: "picker-filter",
    placeholder: `filter ${noun.toLowerCase()}`,
    "aria-label": `filter ${noun.toLowerCase()}`,
    "aria-controls": id,
    spellcheck: "false",
    hidden: true,
    on: { input: narrow, keydown: onFilterKey },
  });
  const note = el("div", { class: "side-note" });
  const head = el("div", { class: "side-head" }, label, extra);
  const node = el("div", { class: "side-section" }, head, filter, select, note);
  /** @type {{value: string, label: string, why?: string}[]} */
  let all = [];
  let chosen = "";
  /** @type {string[]} */
  let told = [];

  /**
   * Nothing to pick, and no other way to get something: only the notes are there.
   * @param {{value: string, label: string, why?: string}[]} options `why`: there is nothing in it, and why; it can
   *     be picked all the same, and says more then
   */
  function show(options, value, { count = options.length, notes = [] } = {}) {
    setText(label, `${noun} (${count})`);
    const known = options.some((option) => option.value === value);
    all = known || value === null ? options : [{ value, label: `${value} (not found)` }, ...options];
    chosen = value ?? "";
    told = notes;
    select.disabled = all.length === 0;
    select.hidden = label.hidden = all.length === 0 && extra === null;
    node.hidden = select.hidden && notes.length === 0;
    filter.hidden = all.length <= FEW;
    if (filter.hidden) filter.value = "";
    narrow();
  }

  /** What matches, open while there is something typed; else all, folded. */
  function narrow() {
    const test = matcher(filter.value);
    const shown = all.filter((one) => !test || test(one.label));
    select.replaceChildren(...shown.map(optionNode));
    if (test) select.size = Math.max(2, Math.min(MOST_OPEN, shown.length));
    else select.removeAttribute("size");
    select.value = test && !shown.some((one) => one.value === chosen) ? (shown[0]?.value ?? "") : chosen;
    select.title = select.selectedOptions[0]?.textContent ?? "";
    const notes = test && shown.length === 0 ? [`None of ${all.length} matches.`] : told;
    note.replaceChildren(...notes.map((text) => el("p", { title: text }, text)));
  }

  function pick(value) {
    filter.value = "";
    onPick(value);
    narrow();
  }

  function letGo() {
    filter.value = "";
    narrow();
    leaveField(filter);
  }

  function onFilterKey(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: MOST_OPEN, PageUp: -MOST_OPEN };
    if (event.key in moves) move(moves[event.key]);
    else if (event.key === "Enter" && filter.value && select.selectedIndex >= 0) pick(select.value);
    else if (event.key === "Escape") letGo();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function move(by) {
    select.selectedIndex = Math.max(0, Math.min(select.options.length - 1, select.selectedIndex + by));
  }

  /** A list that stands open picks with Enter, as the field above it does. */
  function onSelectKey(event) {
    if (event.key !== "Enter" || !filter.value) return;
    event.preventDefault();
    pick(select.value);
  }

  return { node, show };
}

function optionNode({ value, label, why = "" }) {
  if (!why) return el("option", { value }, label);
  return el("option", { value, class: "without", title: `${label}: ${why}` }, `${label}: ${why}`);
}
