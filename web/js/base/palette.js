// @ts-check
// The page's colours as canvases need them. They are defined once, in css/base.css; this reads them back resolved
// for the present theme.

/** @type {Record<string, string> | null} */
let resolved = null;

/** By their names there, without the dashes before them. */
export function palette() {
  resolved ??= resolve(namesOf(rootRule()));
  return resolved;
}

export function forgetPalette() {
  resolved = null;
}

/** @returns {any} */
function rootRule() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  return rules.find((rule) => rule instanceof CSSStyleRule && rule.selectorText === ":root");
}

function namesOf({ style }) {
  return Array.from(style, (name) => name.replace(/^--/, "")).filter((name) => style.getPropertyValue(`--${name}`));
}

/** All probes first, then all answers: each change before an answer would have the browser work out styles anew. */
function resolve(names) {
  const probes = names.map((name) => {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    return probe;
  });
  const holder = document.createElement("span");
  holder.hidden = true;
  holder.append(...probes);
  document.body.append(holder);
  const colors = Object.fromEntries(names.map((name, i) => [name, getComputedStyle(probes[i]).color]));
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
