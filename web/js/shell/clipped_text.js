// @ts-check
// Text that ends in "…" for want of room can be read where the mouse rests on it, in any tool.

const MARK = "data-clipped"; // the title is this module's, and goes when there is room again

/** @param {Event} event the mouse came to rest on something */
export function nameClipped({ target }) {
  if (!(target instanceof HTMLElement)) return;
  const mine = target.closest(`[${MARK}]`);
  if (target.closest("[title]") !== mine) return;
  const node = [target, target.parentElement, target.parentElement?.parentElement].find(isClipped);
  if (mine instanceof HTMLElement && mine !== node) unname(mine);
  if (!node) return;
  node.setAttribute(MARK, "");
  node.title = (node.textContent ?? "").trim();
}

const isClipped = (node) =>
  node && node.scrollWidth > node.clientWidth && getComputedStyle(node).textOverflow === "ellipsis";

function unname(node) {
  node.removeAttribute(MARK);
  node.removeAttribute("title");
}
