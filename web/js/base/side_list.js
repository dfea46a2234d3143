// @ts-check
// A list of the side panel to choose from, each entry with what it holds: modules, memory types, files, messages.
import { el, setChildren, setText } from "./dom.js";
import { sizeFigure } from "./figures.js";

/**
 * @typedef {{value: any, label: string, title: string, bytes: number | null, isBroken?: boolean, isPending?: boolean,
 *            key?: string, share?: number, below?: string, isPart?: boolean,
 *            fit?: {state: string, word: string} | null}} Entry `key`
 *     names it where `value` is no word; `share`: a bar of so much of the width behind it; `below`: a line in small
 *     print; `isPart`: of the entry above; `fit`: whether the device has room for it
 * @param {string} noun
 * @param {(value: any) => void} onPick
 * @param {any[]} above what stands between the title and the list
 */
export function createSideList(noun, onPick, ...above) {
  const title = el("h2", { class: "side-title" }, noun);
  const list = el("ul", { class: "entries", "aria-label": noun });
  const head = el("div", { class: "side-head" }, title);
  const node = el("section", { class: "side-section", hidden: true }, head, ...above, list);

  /** @type {Map<string, HTMLElement>} rows by all that they tell */
  let rows = new Map();

  /**
   * Rows that tell what they told before stay: a large session's list is shown anew at every poll.
   * @param {Entry[]} entries @param {number | string} count what the title tells
   */
  function show(entries, chosen, mode, count = entries.length) {
    node.hidden = count === 0;
    setText(title, `${noun} (${count})`);
    const focused = list.contains(document.activeElement) && document.activeElement?.getAttribute("data-value");
    const before = rows;
    rows = new Map();
    for (const entry of entries) {
      const isChosen = entry.value === chosen;
      const told = JSON.stringify([entry, isChosen, mode]);
      rows.set(told, before.get(told) ?? el("li", {}, entryNode(entry, isChosen, mode, onPick)));
    }
    setChildren(list, [...rows.values()]);
    if (focused) [...list.querySelectorAll(".entry")].find((one) => one.dataset.value === focused)?.focus();
  }

  return { node, show, showChosen: () => list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" }) };
}

/** @param {Entry} entry */
function entryNode(entry, isChosen, mode, onPick) {
  const { value, key = String(value), label, title, share, below, isPart = false } = entry;
  const bar = share === undefined ? null : el("span", { class: "entry-bar" });
  if (bar) bar.style.width = `${100 * (share ?? 0)}%`;
  return el(
    "button",
    {
      type: "button",
      class: isPart ? "entry entry-part" : "entry",
      title,
      data: { value: key },
      "aria-current": isChosen ? "true" : null,
      on: { click: () => onPick(value) },
    },
    bar,
    el("span", { class: "entry-name ellipsis" }, label),
    el("span", { class: "entry-figures" }, fitOf(entry), figureOf(entry, mode)),
    below === undefined ? null : el("span", { class: "entry-below ellipsis" }, below),
  );
}

/** @param {Entry} entry */
function fitOf({ fit }) {
  return fit ? el("span", { class: `entry-fit ${fit.state}` }, fit.word) : null;
}

/** @param {Entry} entry */
function figureOf({ bytes, isBroken, isPending }, mode) {
  if (isBroken) return el("span", { class: "entry-error" }, "error");
  if (isPending) return el("span", { class: "figure unit" }, "…");
  return bytes === null ? null : sizeFigure(bytes, mode);
}
