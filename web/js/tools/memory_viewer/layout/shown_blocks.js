// @ts-check
/**
 * Which blocks a frame draws, in the order in which they are drawn: those of the open bands, then the temporary ones,
 * of both only what may lie in the window. A folded band is one bar instead.
 *
 *     window narrow    what the index finds there, put in order
 *     window wide      all, as they stand: to look them up would cost more
 *
 * Pure.
 * @typedef {{begin: number, end: number, of?: Uint32Array | null}} Part of the blocks, or of a list of them
 */
import { CATEGORIES, TEMPORARY } from "../data/categories.js";

const FOLDABLE = CATEGORIES.filter((_, number) => number !== TEMPORARY).map(({ key }) => key);

const NARROW_SHARE = 8; // at most one of so many blocks

/**
 * @param {import("./blocks.js").Blocks} blocks
 * @param {{within: (begin: number, end: number, most?: number) => Uint32Array | null}} index
 * @param {{begin: number, end: number}} window of program order
 * @param {Set<string>} folded keys of categories
 * @param {number} longest blocks in a part
 * @returns {Part[]}
 */
export function partsInWindow(blocks, index, window, folded, longest) {
  const found = index.within(window.begin, window.end, Math.floor(blocks.count / NARROW_SHARE));
  if (found === null) return openRuns(blocks, folded).flatMap((run) => cut(run, longest));
  const of = Uint32Array.from(found).sort();
  const isShown = foldedRuns(blocks, folded).length === 0 ? null : (i) => !isFolded(blocks, folded, i);
  const list = isShown ? of.filter(isShown) : of;
  return cut({ begin: 0, end: list.length, of: list }, longest);
}

export function foldedRuns(blocks, folded) {
  return blocks.bands.filter(({ lane }) => folded.has(lane.key));
}

/** @param {import("./blocks.js").Blocks} blocks */
export function isFolded(blocks, folded, i) {
  return foldedRuns(blocks, folded).some(({ first, end }) => i >= first && i < end);
}

function openRuns(blocks, folded) {
  const runs = [];
  let begin = 0;
  for (const { first, end } of foldedRuns(blocks, folded)) {
    if (first > begin) runs.push({ begin, end: first });
    begin = end;
  }
  if (blocks.count > begin) runs.push({ begin, end: blocks.count });
  return runs;
}

function cut({ begin, end, of = null }, longest) {
  const parts = [];
  for (let at = begin; at < end; at += longest) parts.push({ begin: at, end: Math.min(end, at + longest), of });
  return parts;
}

/**
 * What is one bar as a whole, as blocks of their own: the folded bands, and allocations that no simulation tells about.
 * @param {import("./blocks.js").Blocks} blocks
 */
export function wholeBars(blocks, folded) {
  const unknown = blocks.lanes.filter(({ count }) => count === 0).map((lane) => ({ lane, first: 0, end: 0 }));
  const of = [...foldedRuns(blocks, folded), ...unknown];
  const column = (value) => Float64Array.from(of, value);
  return {
    ...{ count: of.length, of },
    x0: column(() => 0),
    x1: column(() => blocks.steps),
    y0: column(({ lane }) => lane.begin),
    y1: column(({ lane }) => lane.end),
  };
}

/** The folded bands as the address writes them: "parameter,output". @returns {Set<string>} */
export function parseFolded(text) {
  return new Set((text ?? "").split(",").filter((key) => FOLDABLE.includes(key)));
}

/** @param {Set<string>} folded */
export function foldedText(folded) {
  return folded.size === 0 ? null : FOLDABLE.filter((key) => folded.has(key)).join(",");
}
