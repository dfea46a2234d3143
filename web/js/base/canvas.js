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

/** `text` cut to `width` pixels with an ellipsis; "" when not even three letters fit. */
export function fitText(context, text, width) {
  if (context.measureText(text).width <= width) return text;
  const perLetter = context.measureText("m").width;
  let length = Math.floor(width / perLetter);
  if (length < 4) return "";
  while (length > 3 && context.measureText(`${text.slice(0, length)}…`).width > width) length -= 1;
  return `${text.slice(0, length)}…`;
}
