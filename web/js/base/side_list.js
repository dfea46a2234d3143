// @ts-check
// A list of the side panel to choose from, each entry with what it holds: memory types, files, messages.
import { el, setText } from "./dom.js";
import { sizeFigure } from "./figures.js";

/**
 * @typedef {{value: any, label: string, title: string, bytes: number | null, isBroken?: boolean}} Entry
 * @param {string} noun
 * @param {(value: any) => void} onPick
 */
export function createSideList(noun, onPick) {
  const title = el("h2", { class: "side-title" }, noun);
  const list = el("ul", { class: "spaces", "aria-label": noun.toLowerCase() });
  const node = el("section", { class: "side-section", hidden: true }, el("div", { class: "side-head" }, title), list);

  /** @param {Entry[]} entries */
  function show(entries, chosen, mode, count = entries.length) {
    node.hidden = count === 0;
    setText(title, `${noun} (${count})`);
    const focused = document.activeElement?.closest(".space")?.getAttribute("data-value");
    list.replaceChildren(
      ...entries.map((entry) => el("li", {}, entryNode(entry, entry.value === chosen, mode, onPick))),
    );
    if (focused) [...list.querySelectorAll(".space")].find((one) => one.dataset.value === focused)?.focus();
  }

  return { node, show };
}

/** @param {Entry} entry */
function entryNode({ value, label, title, bytes, isBroken }, isChosen, mode, onPick) {
  const figure = bytes === null ? null : sizeFigure(bytes, mode);
  return el(
    "button",
    {
      type: "button",
      class: "space",
      title,
      data: { value: String(value) },
      "aria-current": isChosen ? "true" : null,
      on: { click: () => onPick(value) },
    },
    el("span", { class: "ellipsis" }, label),
    isBroken ? el("span", { class: "module-error" }, "error") : figure,
  );
}
