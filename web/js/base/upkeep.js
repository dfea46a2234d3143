// @ts-check
// What a view keeps up while it stands on the page. Each gives back how to stop it; `together` stops several.
import { requestFrame } from "./frame.js";

/** Draws in the next frame when one of these values of a store has changed. */
export function inFrame(store, keys, draw) {
  return store.watch(keys, () => requestFrame(draw));
}

/** Draws in the next frame when the node has got another size; its first one counts. */
export function onResize(node, draw) {
  const observer = new ResizeObserver(() => requestFrame(draw));
  observer.observe(node);
  return () => observer.disconnect();
}

/** @param {(() => void)[]} stops */
export function together(...stops) {
  return () => stops.forEach((stop) => stop());
}
