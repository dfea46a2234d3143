// @ts-check
// A chart as a file: PNG at the device's pixels, or SVG. Fetched when a picture is first asked for.
import { fileName, saveBlob } from "../save_file.js";
import { fontText, sceneOf } from "./scene.js";
import { svgText } from "./svg_text.js";

/**
 * @param {Element} root what is pictured
 * @param {{what: string, kind: "png" | "svg", from: string[]}} picture `from`: session, program, ... for name and
 *     caption
 * @returns {Promise<string>} what is to be said about it
 */
export async function savePicture(root, { what, kind, from }) {
  const scene = sceneOf(root, [...from, "hbmview"].join(" / "));
  const name = fileName(...from, `${what}.${kind}`);
  if (kind === "png") {
    saveBlob(name, await pngOf(scene));
    return "";
  }
  const { text, notes } = svgText(scene, [...from, what].join(" / "));
  saveBlob(name, new Blob([text], { type: "image/svg+xml" }));
  return notes.join(" ");
}

/** @param {import("./scene.js").Scene} scene @returns {Promise<Blob>} */
export function pngOf({ width, height, background, pieces }) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = document.createElement("canvas");
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  /** @type {any} */
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.fillStyle = background;
  context.fillRect(0, 0, width, height);
  for (const piece of pieces) DRAW[piece.kind](context, piece);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("This browser makes no PNG of that size.")))),
  );
}

/** @type {Record<string, (context: any, piece: any) => void>} */
const DRAW = {
  text(context, { text, x, y, font, color }) {
    context.font = fontText(font);
    context.fillStyle = color;
    context.fillText(text, x, y);
  },
  box(context, { x, y, width, height, color }) {
    context.fillStyle = color;
    context.fillRect(x, y, width, height);
  },
  canvas(context, { canvas, x, y, width, height }) {
    context.drawImage(canvas, x, y, width, height);
  },
};
