// @ts-check
// The page's colours as canvases need them. They are defined once, in css/base.css; this reads them back resolved
// for the present theme.

const NAMES = [
  "bg",
  "panel",
  "line",
  "ink",
  "ink-2",
  "ink-3",
  "accent",
  "danger",
  "curve",
  "curve-fill",
  "cat-parameter",
  "cat-donated",
  "cat-output",
  "cat-constant",
  "cat-temporary",
  "cat-fragmentation",
  "cat-thread-local",
  "mem-stack",
  "mem-heap",
  "mem-line",
  "mem-free",
  "mem-fragmentation",
  "over-1",
  "over-2",
  "over-3",
  "over-4",
  "over-5",
  "over-6",
];

/** @type {Record<string, string> | null} */
let resolved = null;

export function palette() {
  resolved ??= resolve();
  return resolved;
}

export function forgetPalette() {
  resolved = null;
}

/** All probes first, then all answers: each change before an answer would have the browser work out styles anew. */
function resolve() {
  const probes = NAMES.map((name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    return probe;
  });
  const holder = document.createElement("span");
  holder.hidden = true;
  holder.append(...probes);
  document.body.append(holder);
  const colors = Object.fromEntries(NAMES.map((name, i) => [name, getComputedStyle(probes[i]).color]));
  holder.remove();
  return colors;
}

/** "rgb(1, 2, 3)" -> [1, 2, 3]. */
export function rgbOf(color) {
  const parts = color.match(/[\d.]+/g)?.map(Number) ?? [0, 0, 0];
  return parts.slice(0, 3);
}

/** A step from `a` to `b`; share 0 is `a`. */
export function mixRgb(a, b, share) {
  return a.map((value, i) => Math.round(value + (b[i] - value) * share));
}

/** The 32-bit pixel that ImageData holds on a little-endian machine. */
export function pixelOf([red, green, blue], alpha = 255) {
  return ((alpha << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
