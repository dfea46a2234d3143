// @ts-check
// Which function painted a canvas: it can paint the same on a surface of vectors (svg_surface.js). What nobody told
// of goes into a picture as the pixels that it has.

/**
 * What a painter needs of a canvas (canvas.js, fitCanvas): its size in CSS pixels and a context.
 * @typedef {{clientWidth: number, clientHeight: number, width: number, height: number, getContext: (kind: string) =>
 *            any}} Surface
 * @typedef {(surface: any) => void} Painter
 */

/** @type {WeakMap<HTMLCanvasElement, Painter>} */
const painters = new WeakMap();

/** @param {HTMLCanvasElement} canvas @param {Painter} paint what stands on it now, on another surface */
export function drawnBy(canvas, paint) {
  painters.set(canvas, paint);
}

export const painterOf = (canvas) => painters.get(canvas) ?? null;
