// @ts-check
// A canvas that fills its box, sharp at any device pixel ratio. Coordinates are CSS pixels.

const FONT = "11px system-ui, sans-serif";

/**
 * With the page's small type; empty, unless it is painted over as a whole.
 * @returns {{context: CanvasRenderingContext2D, width: number, height: number, ratio: number}}
 */
export function fitCanvas(canvas, isPaintedOver = false) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const pixelsX = Math.max(1, Math.round(width * ratio));
  const pixelsY = Math.max(1, Math.round(height * ratio));
  if (canvas.width !== pixelsX) canvas.width = pixelsX;
  if (canvas.height !== pixelsY) canvas.height = pixelsY;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  if (!isPaintedOver) context.clearRect(0, 0, width, height);
  context.font = FONT;
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

/** Text on a scrap of background, so that lines behind it do not cross it. */
export function labelOnScrap(context, text, { x, y, ink, scrap }) {
  const baseline = Math.max(10, y);
  context.textBaseline = "alphabetic";
  context.textAlign = "left";
  context.fillStyle = scrap;
  context.globalAlpha = 0.8;
  context.fillRect(x - 2, baseline - 10, context.measureText(text).width + 4, 13);
  context.globalAlpha = 1;
  context.fillStyle = ink;
  context.fillText(text, x, baseline);
}

/** The title of a vertical axis. */
export function drawSideways(context, text, x, y) {
  context.save();
  context.translate(x, y);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(text, 0, 0);
  context.restore();
}
