// @ts-check
/**
 * Where the panels stand: tabs below the timeline; on a wide window the first of them, what fills the memory at the
 * chosen time, stands beside it, above the card of the event.
 *
 *     narrow   timeline                     wide   timeline    | Breakdown
 *              [Breakdown] [Leaks] ...             [Leaks] ... | the event
 */
import { el } from "../../../base/dom.js";
import { createTabStrip } from "../../../base/tab_strip.js";

const WIDE = "(min-width: 1440px)"; // as in css/memory_profile.css

/** @param {any[]} panels @param {any} context see panels/index.js */
export function createPanelPlaces(panels, context) {
  const wide = matchMedia(WIDE);
  const node = el("div");
  const beside = el("div", { class: "beside", hidden: true });
  let strip = /** @type {any} */ (null);
  let first = /** @type {any} */ (null);

  function arrange() {
    clear();
    const [one, ...others] = panels;
    if (wide.matches) first = one.create(context);
    beside.hidden = first === null;
    if (first) beside.replaceChildren(el("h2", {}, one.name), first.node);
    strip = createTabStrip(first ? others : panels, context, "about this memory", one.id);
    node.replaceChildren(strip.node);
    strip.start();
  }

  function clear() {
    first?.dispose();
    strip?.dispose();
    first = null;
    strip = null;
  }

  function redraw() {
    first?.update();
    strip?.redraw();
  }

  wide.addEventListener("change", arrange);
  return {
    node,
    beside,
    start: arrange,
    open: (id) => strip?.open(id),
    redraw,
    dispose() {
      wide.removeEventListener("change", arrange);
      clear();
    },
  };
}
