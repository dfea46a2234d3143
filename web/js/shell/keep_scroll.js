// @ts-check
// Where the reader was, in what is made anew: as soon as it is long enough again, unless they move first.

const MOVES = ["wheel", "pointerdown", "keydown", "touchstart"];

/** @param {HTMLElement} node that scrolls, before its content is replaced */
export function keepScroll(node) {
  const { scrollTop } = node;
  if (scrollTop === 0) return;
  const observer = new MutationObserver(tryAgain);
  observer.observe(node, { subtree: true, childList: true, attributes: true });
  for (const name of MOVES) window.addEventListener(name, stop, { passive: true, capture: true });

  function tryAgain() {
    if (node.scrollHeight - node.clientHeight < scrollTop) return;
    stop();
    node.scrollTop = scrollTop;
  }

  function stop() {
    observer.disconnect();
    for (const name of MOVES) window.removeEventListener(name, stop, { capture: true });
  }
}
