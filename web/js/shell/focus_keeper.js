// @ts-check
/**
 * The focus is never lost: where what had it is made anew, or goes away, it moves to what stands in its place.
 *
 *     the same id > in the nearest ancestor that is left: the same words, else the same place among the like
 *                 > that ancestor's first control > the middle of the page
 *
 * Who sees to the focus themselves are not disturbed: only a focus that nobody has is moved, a frame later. One that
 * the reader gave up, by a click on something that takes none, stays given up.
 * @typedef {{node: Element, ancestors: Element[], words: string, index: number}} Place
 */
const CONTROLS = "button, a[href], input, select, textarea, summary, [tabindex]:not([tabindex='-1'])";

/** @param {HTMLElement} main */
export function keepFocus(main) {
  /** @type {Place | null} */
  let last = null;
  let isLooking = false;

  document.addEventListener("focusin", ({ target }) => {
    if (target instanceof Element && target !== main) last = placeOf(target);
  });
  function look() {
    isLooking = false;
    const place = last;
    if (!isNobodys() || place === null) return;
    last = null;
    if (!isThere(place.node)) (standIn(place) ?? main).focus({ preventScroll: true });
  }

  function lookSoon() {
    if (isLooking || last === null || !isNobodys()) return;
    isLooking = true;
    requestAnimationFrame(look);
  }

  new MutationObserver(lookSoon).observe(document.body, {
    subtree: true,
    childList: true,
    attributeFilter: ["hidden", "disabled"],
  });
  document.addEventListener("focusout", lookSoon);
}

const isNobodys = () => document.activeElement === document.body || document.activeElement === null;
const isThere = (node) => node.isConnected && node.checkVisibility() && !node.matches(":disabled");
const ARROWS = /[▾▴▸]/g; // of an order, of what is open
const wordsOf = (node) => node.getAttribute("aria-label") ?? (node.textContent ?? "").replace(ARROWS, "").trim();
const alike = (root, node) => [...root.querySelectorAll(node.tagName)].filter((one) => one.matches(CONTROLS));

/** @returns {Place} */
function placeOf(node) {
  const ancestors = [];
  for (let at = node.parentElement; at && at !== document.body; at = at.parentElement) ancestors.push(at);
  return { node, ancestors, words: wordsOf(node), index: alike(ancestors[0] ?? document.body, node).indexOf(node) };
}

/** @param {Place} place @returns {HTMLElement | null} */
function standIn({ node, ancestors, words, index }) {
  const same = node.id ? document.getElementById(node.id) : null;
  if (same && isThere(same)) return same;
  const root = ancestors.find(isThere);
  if (!root) return null;
  const left = alike(root, node).filter(isThere);
  const isSamePlace = root === ancestors[0];
  return (
    left.find((one) => wordsOf(one) === words) ??
    (isSamePlace ? left[Math.min(index, left.length - 1)] : undefined) ??
    [.../** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(CONTROLS))].find(isThere) ??
    null
  );
}
