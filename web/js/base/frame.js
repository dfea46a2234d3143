// @ts-check
// The page's one requestAnimationFrame. A callback asked for many times runs once in the next frame.

const waiting = new Set();
let asked = false;

export function requestFrame(callback) {
  waiting.add(callback);
  if (asked) return;
  asked = true;
  requestAnimationFrame(runFrame);
}

function runFrame() {
  asked = false;
  const callbacks = [...waiting];
  waiting.clear();
  for (const callback of callbacks) callback();
}
