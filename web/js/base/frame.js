// @ts-check
/**
 * The page's one requestAnimationFrame. A callback asked for many times runs once in the next frame, or, when those
 * before it have taken long, in the one after: so no frame draws everything at once.
 */

const LONG_FRAME_MS = 12;

const waiting = new Set();
let asked = false;

export function requestFrame(callback) {
  waiting.add(callback);
  if (asked) return;
  asked = true;
  requestAnimationFrame(runFrame);
}

/** What is asked for meanwhile comes behind what waits already. */
function runFrame() {
  asked = false;
  const end = performance.now() + LONG_FRAME_MS;
  const callbacks = [...waiting];
  waiting.clear();
  while (callbacks.length > 0 && performance.now() < end) callbacks.shift()();
  const asking = [...waiting];
  waiting.clear();
  for (const callback of [...callbacks, ...asking]) requestFrame(callback);
}
