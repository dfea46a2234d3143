// @ts-check
/**
 * One part of the page alone on the screen, with the dock. The style sheet lays it out (data-full-screen at the root);
 * the browser's own full screen follows where it is allowed. Esc leaves, whichever of the two it reaches.
 *
 * @param {HTMLElement} node
 * @param {() => void} onLeave somebody has left it with Esc
 */
export function createFullScreen(node, onLeave) {
  const root = document.documentElement;
  let isOn = false;

  function show(wanted) {
    if (wanted === isOn) return;
    isOn = wanted;
    node.classList.toggle("is-full-screen", isOn);
    root.toggleAttribute("data-full-screen", isOn);
    const change = isOn ? root.requestFullscreen?.() : document.fullscreenElement && document.exitFullscreen();
    Promise.resolve(change).catch(() => {}); // not in this frame, or not without a gesture: the page is filled anyway
  }

  function onChange() {
    if (isOn && !document.fullscreenElement) onLeave();
  }

  /** Before the keys of the page, for which Esc means something else. */
  function onKey(event) {
    const isOthers = document.querySelector("dialog[open]") || event.target.closest?.("details[open]");
    if (event.key !== "Escape" || !isOn || isOthers) return;
    event.preventDefault();
    event.stopPropagation();
    onLeave();
  }

  document.addEventListener("fullscreenchange", onChange);
  document.addEventListener("keydown", onKey, true);
  return {
    show,
    dispose() {
      show(false);
      document.removeEventListener("fullscreenchange", onChange);
      document.removeEventListener("keydown", onKey, true);
    },
  };
}
