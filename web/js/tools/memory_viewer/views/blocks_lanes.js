// @ts-check
/**
 * What the timeline is made of, a button each: the temporary allocations, then the bands. The name shows only these
 * bytes; the triangle before a band folds it into one bar and opens it. `leftOut` is what has no place there.
 */
import { button, el, setText } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { formatSize, plural } from "../../../base/format.js";
import { inFrame } from "../../../base/upkeep.js";
import { CATEGORIES, TEMPORARY, categoryOf } from "../data/categories.js";
import { bandName, leftOutWords } from "../data/block_words.js";
import { extentOf } from "../layout/lanes.js";

export function createLaneStrip(state) {
  const { blocks, model } = state;
  const order = [TEMPORARY, ...CATEGORIES.keys()].filter((number, i, all) => all.indexOf(number) === i);
  const parts = order.filter((number) => extentOf(blocks.lanes, number)).map((number) => createPart(state, number));
  const leftOut = el("span", { class: "aside", id: "blocks-left-out" });
  const node = el("div", { class: "lane-strip" }, ...parts.map((part) => part.node));

  function draw() {
    parts.forEach((part) => part.draw());
    setText(leftOut, leftOutWords(model.totals, blocks, state.get().unit));
  }

  return { node, leftOut, draw, dispose: inFrame(state, ["unit", "folded"], draw) };
}

function createPart(state, category) {
  const { lanes } = state.blocks;
  const { key } = categoryOf(category);
  const name = bandName(category);
  const extent = extentOf(lanes, category);
  const title = `show only these bytes: ${countOf(lanes, category)}`;
  const show = button("", () => state.actions.showBytes(extent), { class: "quiet small", title, data: { lane: key } });
  const label = el("span", {});
  show.append(swatch(`cat-${key}`), label);
  const fold =
    category === TEMPORARY
      ? null
      : button("", () => state.actions.fold(key), { class: "quiet small fold-band", data: { fold: key } });

  function draw() {
    const { unit, folded } = state.get();
    setText(label, `${name} ${formatSize(extent.end - extent.begin, unit)}`);
    if (!fold) return;
    const isFolded = folded.has(key);
    setText(fold, isFolded ? "▸" : "▾");
    fold.setAttribute("aria-expanded", String(!isFolded));
    fold.title = `${isFolded ? "open" : "fold"} ${name.toLowerCase()}`;
    fold.setAttribute("aria-label", fold.title);
  }

  return { node: el("span", { class: "lane-part" }, fold, show), draw };
}

function countOf(lanes, category) {
  const own = lanes.filter((lane) => lane.category === category);
  const buffers = own.reduce((sum, lane) => sum + lane.count, 0);
  return `${plural(buffers, "buffer")}${category === TEMPORARY ? ` in ${plural(own.length, "allocation")}` : ""}`;
}
