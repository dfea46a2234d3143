// @ts-check
/**
 * Where the details of one thing stand: below the charts, or at their right where there is room (css/dock.css). A tool
 * fills `body` with a card (base/details_card.js).
 *
 *     one line      nothing is held: what is under the mouse is named in it, and no chart moves
 *     open          the card holds something (data-held: pinned, chosen), or the reader opened it
 *     at the right  always open: nothing moves for it
 *
 * Its size is dragged, or set with the arrow keys, and is remembered, as is that it was opened.
 */
import { button, el, setText } from "../base/dom.js";
import { remember, remembered } from "../base/remembered.js";

const AT_RIGHT = "(min-width: 1400px)"; // as in css/dock.css
const KEY_STEP = 24;
/** @type {Record<string, {css: string, least: number, usual: number, most: () => number}>} */
const SIDES = {
  below: { css: "--dock-height", least: 80, usual: 172, most: () => 0.6 * innerHeight },
  right: { css: "--dock-width", least: 260, usual: 340, most: () => 0.4 * innerWidth },
};

/** @param {HTMLElement} node @param {HTMLElement} main what gives it room, and keeps in sight what one looks at */
export function createDock(node, main) {
  const body = el("div", { class: "dock-body" });
  const grip = el("div", {
    class: "dock-grip",
    role: "separator",
    tabindex: 0,
    "aria-label": "size of the details",
    title: "Drag to make the details larger or smaller; double click: as it was",
  });
  const fold = button("", toggle, { class: "quiet small", id: "dock-fold" });
  const wide = matchMedia(AT_RIGHT);
  const side = () => (wide.matches ? "right" : "below");
  let isWanted = remembered("dock") === "open";
  let height = 0; // of what gives it room

  const isOpen = () => isWanted || body.querySelector("[data-held]") !== null;

  /** Folding a card that holds something lets go of it. */
  function toggle() {
    isWanted = !isOpen();
    remember("dock", isWanted ? "open" : null);
    if (!isWanted) body.querySelector("[data-held]")?.dispatchEvent(new CustomEvent("let-go"));
    show();
  }

  function show() {
    node.hidden = body.childElementCount === 0;
    node.dataset.state = isOpen() ? "open" : "line";
    fold.setAttribute("aria-expanded", String(isOpen()));
    setText(fold, isOpen() ? "▾ less" : "▴ details");
    fold.title = isOpen() ? "One line again (i)" : "All that is known of this (i)";
  }

  function sizeNow() {
    const { least, usual, most } = SIDES[side()];
    const wanted = Number(remembered(`dock-${side()}`)) || usual;
    return Math.max(least, Math.min(most(), wanted));
  }

  function resize(pixels) {
    const { least, most } = SIDES[side()];
    remember(`dock-${side()}`, String(Math.round(Math.max(least, Math.min(most(), pixels)))));
    showSize();
  }

  function showSize() {
    const { css, least, most } = SIDES[side()];
    const size = sizeNow();
    node.style.setProperty(css, `${size}px`);
    grip.setAttribute("aria-orientation", side() === "right" ? "vertical" : "horizontal");
    for (const [name, value] of Object.entries({ valuenow: size, valuemin: least, valuemax: most() }))
      grip.setAttribute(`aria-${name}`, String(Math.round(value)));
  }

  function onDrag(event) {
    if (!grip.hasPointerCapture(event.pointerId)) return;
    const box = node.getBoundingClientRect();
    resize(side() === "right" ? box.right - event.clientX : box.bottom - event.clientY);
  }

  function onKey(event) {
    const delta = { ArrowUp: 1, ArrowLeft: 1, ArrowDown: -1, ArrowRight: -1 }[event.key];
    if (!delta) return;
    event.preventDefault();
    resize(sizeNow() + delta * KEY_STEP);
  }

  /** What is looked at, and what has the focus, stays in sight when the dock takes its room. */
  function keepInSight() {
    const shrunk = height - main.clientHeight;
    height = main.clientHeight;
    if (shrunk <= 0) return;
    const looked = main.querySelectorAll(".bar-row:hover, .chart:hover, tr:hover, :focus");
    [...looked].at(-1)?.scrollIntoView({ block: "nearest" });
  }

  grip.addEventListener("pointerdown", (event) => {
    grip.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  grip.addEventListener("pointermove", onDrag);
  grip.addEventListener("dblclick", () => resize(SIDES[side()].usual));
  grip.addEventListener("keydown", onKey);
  wide.addEventListener("change", showSize);
  window.addEventListener("resize", showSize);
  new MutationObserver(show).observe(body, { subtree: true, childList: true, attributeFilter: ["data-held"] });
  new ResizeObserver(keepInSight).observe(main);
  node.append(grip, body, fold);
  showSize();
  show();
  return { body, toggle };
}
