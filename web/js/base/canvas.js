// @ts-check
// A canvas that fills its box, sharp at any device pixel ratio. Coordinates are CSS pixels.

/** @returns {{context: CanvasRenderingContext2D, width: number, height: number, ratio: number}} */
export function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const pixelsX = Math.max(1, Math.round(width * ratio));
  const pixelsY = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== pixelsX) canvas.width = pixelsX;
  if (canvas.height !== pixelsY) canvas.height = pixelsY;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height, ratio };
}

const MIN_LETTERS = 3;

/** `text` cut to `width` pixels with an ellipsis; "" when not even three letters fit. */
export function fitText(context, text, width) {
  const whole = context.measureText(text).width;
  if (whole <= width) return text;
  let length = Math.min(text.length - 1, Math.floor((text.length * width) / whole));
  while (length >= MIN_LETTERS && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return length >= MIN_LETTERS ? `${text.slice(0, length)}…` : "";
}
