// @ts-check
/**
 * What stands in a part of the page, as pieces to draw in order, in CSS pixels from its corner. Controls are no part of
 * a picture; what is scrolled or cut away is not either.
 *
 *     <section>                     {kind: "text", text, x, y, font, color}     y is the baseline
 *       <h2> key, readout           {kind: "box", x, y, width, height, color}   grounds, swatches, bars, rules
 *       <canvas>                    {kind: "canvas", canvas, x, y, width, height}
 *
 * @typedef {{left: number, top: number, right: number, bottom: number}} Clip
 * @typedef {{size: number, family: string, weight: string}} Font
 * @typedef {{kind: "text", text: string, x: number, y: number, font: Font, color: string}} TextPiece
 * @typedef {{kind: "box", x: number, y: number, width: number, height: number, color: string}} BoxPiece
 * @typedef {{kind: "canvas", canvas: HTMLCanvasElement, x: number, y: number, width: number,
 *            height: number}} CanvasPiece
 * @typedef {TextPiece | BoxPiece | CanvasPiece} Piece
 * @typedef {{width: number, height: number, background: string, pieces: Piece[]}} Scene
 */
import { fitText } from "../canvas.js";
import { palette } from "../palette.js";

const CONTROLS = "button:not(.sort), input, select, textarea, details, dialog, .ways";
const MARGIN = 12;
const CAPTION_ROOM = 18;

/** @param {Element} root @param {string} caption where it is from, at its foot @returns {Scene} */
export function sceneOf(root, caption) {
  const { left, top, width, height } = root.getBoundingClientRect();
  const pen = { dx: MARGIN - left, dy: MARGIN - top, measure: measuring(), pieces: [] };
  addElement(pen, root, { left, top, right: left + width, bottom: top + height });
  const colors = palette();
  const font = { size: 11, family: "system-ui, sans-serif", weight: "400" };
  const y = height + MARGIN + CAPTION_ROOM - 4;
  pen.pieces.push({ kind: "text", text: caption, x: MARGIN, y, font, color: colors["ink-3"] });
  return {
    width: Math.ceil(width + 2 * MARGIN),
    height: Math.ceil(height + 2 * MARGIN + CAPTION_ROOM),
    background: colors.bg,
    pieces: pen.pieces,
  };
}

export const fontText = ({ size, family, weight }) => `${weight} ${size}px ${family}`;

/** @returns {any} a context that only measures */
export function measuring() {
  return document.createElement("canvas").getContext("2d");
}

/** @param {Element} element @param {Clip} clip */
function addElement(pen, element, clip) {
  if (element.matches(CONTROLS)) return;
  const rect = element.getBoundingClientRect();
  const style = getComputedStyle(element);
  if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return;
  if (element instanceof HTMLCanvasElement) return addCanvas(pen, element, rect, clip);
  addGround(pen, rect, style, clip);
  const inside = style.overflow === "visible" ? clip : common(clip, rect);
  for (const child of element.childNodes) {
    if (child instanceof Text) addText(pen, child, style, inside);
    else if (child instanceof Element) addElement(pen, child, inside);
  }
}

function addCanvas(pen, canvas, rect, clip) {
  const seen = common(clip, rect);
  if (seen.right <= seen.left || seen.bottom <= seen.top) return;
  const { width, height } = rect;
  pen.pieces.push({ kind: "canvas", canvas, x: rect.left + pen.dx, y: rect.top + pen.dy, width, height });
}

/** Its ground, and the rules above and below it. */
function addGround(pen, rect, style, clip) {
  const box = (top, bottom, color) => {
    const { left, right, ...seen } = common(clip, { left: rect.left, right: rect.right, top, bottom });
    if (right <= left || seen.bottom <= seen.top || isClear(color)) return;
    const [width, height] = [right - left, seen.bottom - seen.top];
    pen.pieces.push({ kind: "box", x: left + pen.dx, y: seen.top + pen.dy, width, height, color });
  };
  box(rect.top, rect.bottom, style.backgroundColor);
  const [above, below] = [parseFloat(style.borderTopWidth), parseFloat(style.borderBottomWidth)];
  if (style.borderTopStyle === "dashed") return addDashes(pen, rect, above, style.borderTopColor);
  if (above > 0) box(rect.top, rect.top + above, style.borderTopColor);
  if (below > 0) box(rect.bottom - below, rect.bottom, style.borderBottomColor);
}

/** The sample of a dashed line in a chart's key. */
function addDashes(pen, { left, right, top }, height, color) {
  for (let x = left; x < right; x += 7) {
    const width = Math.min(4, right - x);
    pen.pieces.push({ kind: "box", x: x + pen.dx, y: top + pen.dy, width, height, color });
  }
}

const isClear = (color) => color === "transparent" || /^rgba\(.*, 0\)$/.test(color);

/** A text, in the lines in which it stands. */
function addText(pen, node, style, clip) {
  const font = { size: parseFloat(style.fontSize), family: style.fontFamily, weight: style.fontWeight };
  pen.measure.font = fontText(font);
  const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = pen.measure.measureText("x");
  for (const { text, rect } of linesOf(node)) {
    const middle = (rect.top + rect.bottom) / 2;
    if (middle < clip.top || middle > clip.bottom || rect.left >= clip.right || rect.right <= clip.left) continue;
    const shown = fitting(pen.measure, text, rect, clip);
    if (shown.trim() === "") continue;
    const x = Math.max(rect.left, clip.left) + pen.dx;
    const y = middle + (ascent - descent) / 2 + pen.dy;
    pen.pieces.push({ kind: "text", text: shown, x, y, font, color: style.color });
  }
}

/** What is cut off at either end has an ellipsis there. */
function fitting(measure, text, rect, clip) {
  const room = Math.min(rect.right, clip.right) - Math.max(rect.left, clip.left);
  if (rect.left >= clip.left - 1) return rect.right <= clip.right + 1 ? text : fitText(measure, text, room);
  const backwards = (one) => [...one].reverse().join("");
  return backwards(fitText(measure, backwards(text), room));
}

/** @param {Text} node @returns {{text: string, rect: Clip}[]} */
function linesOf(node) {
  const range = document.createRange();
  range.selectNodeContents(node);
  const rects = range.getClientRects();
  if (rects.length === 0) return [];
  if (rects.length === 1) return [{ text: oneLine(node.data), rect: rects[0] }];
  const lines = [];
  for (const { index, 0: word } of node.data.matchAll(/\S+\s*/g)) {
    range.setStart(node, index);
    range.setEnd(node, index + word.length);
    const [rect] = range.getClientRects();
    const last = lines.at(-1);
    if (!rect) continue;
    const { left, top, right, bottom } = rect;
    if (last && Math.abs(last.rect.top - top) < 2) {
      last.text += oneLine(word);
      last.rect.right = right;
    } else lines.push({ text: oneLine(word), rect: { left, top, right, bottom } });
  }
  return lines;
}

const oneLine = (text) => text.replace(/\s/g, " ");

/** @param {Clip} a @param {Clip} b @returns {Clip} */
function common(a, b) {
  return {
    left: Math.max(a.left, b.left),
    top: Math.max(a.top, b.top),
    right: Math.min(a.right, b.right),
    bottom: Math.min(a.bottom, b.bottom),
  };
}
