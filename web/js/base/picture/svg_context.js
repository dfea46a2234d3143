// @ts-check
/**
 * A drawing context that writes SVG: the part of CanvasRenderingContext2D that the page's painters use, so that one
 * painter makes pixels and vectors. A path is written when it is filled or stroked; a clip is a group that the next
 * `restore` closes.
 *
 *     context.fillRect(1, 2, 3, 4)   ->   <rect x="1" y="2" width="3" height="4" fill="#dd8a4b"></rect>
 *
 * It has no gradients, images or pixels. Pure, but for `measure`: a context of a canvas, which knows fonts and colours.
 */

/** @type {any} as SVG writes them: [a b c d e f] */
const IDENTITY = [1, 0, 0, 1, 0, 0];
const ANCHORS = { center: "middle", right: "end", end: "end" };
const FRESH = {
  fillStyle: "#000000",
  strokeStyle: "#000000",
  lineWidth: 1,
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
};

export class TooManyMarks extends Error {}

/** @param {any} measure @param {{id: string, mostMarks: number}} options `id` begins the names of its clips */
export function createSvgContext(measure, { id, mostMarks }) {
  const marks = [];
  const saved = [];
  let matrix = IDENTITY;
  let dash = [];
  let path = "";
  let openGroups = 0;
  let clips = 0;

  function put(mark) {
    if (marks.length >= mostMarks) throw new TooManyMarks();
    marks.push(mark);
  }

  function putElement(name, attributes, content = "") {
    const transform = matrix === IDENTITY ? null : `matrix(${matrix.map(number).join(" ")})`;
    put(`<${name}${attributesText({ ...attributes, transform })}>${content}</${name}>`);
  }

  const paintOf = (color) => {
    measure.fillStyle = color;
    return colorParts(measure.fillStyle, context.globalAlpha);
  };
  const filled = () => {
    const { color, alpha } = paintOf(context.fillStyle);
    return { fill: color, "fill-opacity": alpha };
  };
  const stroked = () => {
    const { color, alpha } = paintOf(context.strokeStyle);
    const { lineWidth } = context;
    return {
      ...{ fill: "none", stroke: color, "stroke-opacity": alpha, "stroke-width": number(lineWidth) },
      "stroke-dasharray": dash.length ? dash.join(" ") : null,
    };
  };
  const box = (x, y, width, height) => ({
    ...{ x: number(Math.min(x, x + width)), y: number(Math.min(y, y + height)) },
    ...{ width: number(Math.abs(width)), height: number(Math.abs(height)) },
  });

  const context = {
    ...FRESH,
    save() {
      saved.push({ state: stateOf(context), matrix, dash, openGroups });
      openGroups = 0;
    },
    restore() {
      const last = saved.pop();
      if (!last) return;
      for (; openGroups > 0; openGroups -= 1) put("</g>");
      Object.assign(context, last.state);
      ({ matrix, dash, openGroups } = last);
    },
    /** In pixels of the page whatever the device's are. */
    setTransform() {
      matrix = IDENTITY;
    },
    translate: (x, y) => (matrix = times(matrix, [1, 0, 0, 1, x, y])),
    rotate: (by) => (matrix = times(matrix, [Math.cos(by), Math.sin(by), -Math.sin(by), Math.cos(by), 0, 0])),
    clearRect() {},
    beginPath: () => (path = ""),
    moveTo: (x, y) => (path += `M${number(x)} ${number(y)}`),
    lineTo: (x, y) => (path += `${path === "" ? "M" : "L"}${number(x)} ${number(y)}`),
    rect: (x, y, width, height) =>
      (path += `M${number(x)} ${number(y)}h${number(width)}v${number(height)}h${number(-width)}z`),
    closePath: () => (path += "z"),
    fill: () => path && putElement("path", { d: path, ...filled() }),
    stroke: () => path && putElement("path", { d: path, ...stroked() }),
    clip() {
      clips += 1;
      put(`<clipPath id="${id}-${clips}"><path d="${path}"/></clipPath><g clip-path="url(#${id}-${clips})">`);
      openGroups += 1;
    },
    fillRect: (x, y, width, height) => putElement("rect", { ...box(x, y, width, height), ...filled() }),
    strokeRect: (x, y, width, height) => putElement("rect", { ...box(x, y, width, height), ...stroked() }),
    setLineDash: (list) => (dash = list),
    measureText(text) {
      measure.font = context.font;
      return measure.measureText(text);
    },
    fillText(text, x, y) {
      measure.font = context.font;
      const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = measure.measureText("x");
      const down = { middle: (ascent - descent) / 2, top: ascent }[context.textBaseline] ?? 0;
      const anchor = ANCHORS[context.textAlign] ?? null;
      const place = { x: number(x), y: number(y + down), "text-anchor": anchor };
      putElement("text", { ...place, ...fontOf(context.font), ...filled() }, xmlText(text));
    },
  };

  return { context, text: () => marks.join("\n") + "</g>".repeat(openGroups) };
}

function stateOf(context) {
  return Object.fromEntries(Object.keys(FRESH).map((key) => [key, context[key]]));
}

function times([a, b, c, d, e, f], [g, h, i, j, k, l]) {
  return [a * g + c * h, b * g + d * h, a * i + c * j, b * i + d * j, a * k + c * l + e, b * k + d * l + f];
}

/** Hundredths of a pixel. */
export function number(value) {
  return String(Math.round(value * 100) / 100);
}

/** "700 11px Arial" -> attributes. */
export function fontOf(font) {
  const [, weight, size, family] = /^(\d+ )?([\d.]+)px (.*)$/.exec(font) ?? [null, "", "11", "sans-serif"];
  const isUsual = !weight || weight.trim() === "400";
  return { "font-size": size, "font-family": family, "font-weight": isUsual ? null : weight.trim() };
}

/** A colour as a canvas gives it back ("#dd8a4b" or "rgba(43, 54, 64, 0.09)"), and how dense it is. */
export function colorParts(color, alpha = 1) {
  const [, red, green, blue, own] = /^rgba\((\d+), (\d+), (\d+), ([\d.]+)\)$/.exec(color) ?? [];
  const hex = (part) => Number(part).toString(16).padStart(2, "0");
  const dense = alpha * (own === undefined ? 1 : Number(own));
  return {
    color: own === undefined ? color : `#${hex(red)}${hex(green)}${hex(blue)}`,
    alpha: dense < 1 ? number(dense) : null,
  };
}

export function attributesText(attributes) {
  const given = Object.entries(attributes).filter(([, value]) => value !== null);
  return given.map(([name, value]) => ` ${name}="${xmlText(String(value))}"`).join("");
}

const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** What XML cannot hold (a profile's names may be anything) becomes "\ufffd". */
export function xmlText(text) {
  const kept = text.toWellFormed?.() ?? text;
  return [...kept].map((c) => ESCAPES[c] ?? (isXml(c.codePointAt(0)) ? c : "\ufffd")).join("");
}

function isXml(code) {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d;
  return code !== 0xfffe && code !== 0xffff && (code < 0xd800 || code > 0xdfff);
}
