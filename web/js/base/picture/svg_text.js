// @ts-check
// A scene as SVG: texts as text, canvases as the vectors that their painters draw; as pixels where no painter is known
// or there are too many marks, which the picture says.
import { painterOf } from "./drawn_by.js";
import { fontText, measuring } from "./scene.js";
import { attributesText, colorParts, createSvgContext, fontOf, number, TooManyMarks, xmlText } from "./svg_context.js";

const MOST_MARKS = 30000; // of one canvas: more is slow in every editor

/** @param {import("./scene.js").Scene} scene @param {string} title */
export function svgText(scene, title) {
  const measure = measuring();
  const notes = [];
  const size = { width: scene.width, height: scene.height };
  const frame = attributesText({ ...size, viewBox: `0 0 ${size.width} ${size.height}` });
  const ground = colored(measure, scene.background);
  const parts = [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<svg xmlns="http://www.w3.org/2000/svg"${frame}>`,
    `<title>${xmlText(title)}</title>`,
    `<rect${attributesText({ ...size, ...ground })}/>`,
    ...scene.pieces.map((piece, i) => WRITE[piece.kind](piece, { measure, id: `c${i}`, notes })),
  ];
  if (notes.length > 0) parts.push(`<desc>${xmlText(notes.join(" "))}</desc>`);
  return { text: `${parts.join("\n")}\n</svg>\n`, notes };
}

function colored(measure, value) {
  measure.fillStyle = value;
  const { color, alpha } = colorParts(measure.fillStyle);
  return { fill: color, "fill-opacity": alpha };
}

/** @type {Record<string, (piece: any, tools: any) => string>} */
const WRITE = { text: writeText, box: writeBox, canvas: writeCanvas };

function writeText({ text, x, y, font, color }, { measure }) {
  const attributes = { x: number(x), y: number(y), ...fontOf(fontText(font)), ...colored(measure, color) };
  return `<text xml:space="preserve"${attributesText(attributes)}>${xmlText(text)}</text>`;
}

function writeBox(piece, { measure }) {
  return `<rect${attributesText({ ...placeOf(piece), ...colored(measure, piece.color) })}/>`;
}

function placeOf({ x, y, width, height }) {
  return { x: number(x), y: number(y), width: number(width), height: number(height) };
}

function writeCanvas(piece, tools) {
  const content = vectorsOf(piece, tools) ?? `<image href="${piece.canvas.toDataURL()}" width="100%" height="100%"/>`;
  return `<svg${attributesText(placeOf(piece))}>\n${content}\n</svg>`;
}

/** null where there are none. */
function vectorsOf({ canvas, width, height }, { measure, id, notes }) {
  const paint = painterOf(canvas);
  if (!paint) return null;
  const { context, text } = createSvgContext(measure, { id, mostMarks: MOST_MARKS });
  try {
    paint({ clientWidth: width, clientHeight: height, width: 0, height: 0, getContext: () => context });
  } catch (error) {
    if (!(error instanceof TooManyMarks)) throw error;
    notes.push(`More than ${MOST_MARKS.toLocaleString("en")} marks: a part of this picture is pixels.`);
    return null;
  }
  return text();
}
