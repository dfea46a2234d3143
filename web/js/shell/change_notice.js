// @ts-check
/**
 * A word on the session that is open: it has changed, or gone, since it was read. It stands over the foot of the middle
 * of the page, so that nothing moves, and takes no focus; what is on the screen stays until the reader wants it anew.
 */
import { button, el, setText } from "../base/dom.js";

/** @param {HTMLElement} parent @param {() => void} onReload */
export function createChangeNotice(parent, onReload) {
  const text = el("span");
  const reload = button("Reload", take, { class: "small", id: "reload-changed", title: "Read it anew (r)" });
  const node = el(
    "div",
    { class: "notice", hidden: true },
    text,
    reload,
    button("×", hide, { class: "quiet small", "aria-label": "dismiss", title: "Dismiss: go on with what was read" }),
  );
  const region = el("div", { class: "notice-place", role: "status" }, node);
  parent.append(region);

  function take() {
    if (node.hidden || reload.hidden) return;
    hide();
    onReload();
  }

  function hide() {
    node.hidden = true;
    setText(text, "");
  }

  /** @param {string} words @param {boolean} canReload */
  function show(words, canReload) {
    reload.hidden = !canReload;
    node.hidden = false;
    setText(text, words);
  }

  return { show, hide, take };
}
