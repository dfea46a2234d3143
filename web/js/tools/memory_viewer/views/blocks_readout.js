// @ts-check
// The timeline's one line: what is free at the step under the cursor, and what the mouse or the keys point at.
import { el, setText } from "../../../base/dom.js";
import { requestFrame } from "../../../base/frame.js";
import { blockWords, holesWords, laneWords, rangeWords, stepWords } from "../data/block_words.js";
import { sumOfHoles } from "../layout/holes.js";
import { laneAt } from "../layout/lanes.js";

export function createReadout(state) {
  const free = el("span", { id: "blocks-free" });
  const thing = el("span", { id: "blocks-thing" });
  const node = el("div", { class: "blocks-line", "aria-live": "off" }, free, thing);
  let place = null;

  /** @param {{x: number, y: number} | null} at where the mouse is */
  function point(at) {
    place = at;
    requestFrame(draw);
  }

  function draw() {
    const step = state.stepInFocus();
    const lanes = state.holesAt(step);
    setText(thing, thingWords(lanes));
    const words = holesWords(sumOfHoles(lanes), state.get().unit, lanes.length);
    setText(free, words && `${stepWords(state.model, step, thing.textContent !== "")}:  ${words}`);
    node.title = `${free.textContent}  ${thing.textContent}`.trim();
  }

  function thingWords(lanes) {
    const { hover, unit, groupOf, folded } = state.get();
    const { model, blocks } = state;
    if (hover !== null && blocks.indexOfRow[hover] >= 0) return blockWords(model, hover, groupOf, unit);
    if (!place) return "";
    const lane = laneAt(blocks.lanes, place.y);
    if (lane && folded.has(lane.key)) return `${laneWords(lane, unit)}, folded; a click opens them`;
    const found = holeAt(lanes, place.y);
    if (found) return `free here: ${rangeWords(found, unit, false)}`;
    return lane?.count === 0 ? laneWords(lane, unit) : "";
  }

  return { node, draw, point };
}

function holeAt(lanes, y) {
  for (const { lane, holes } of lanes) {
    const hole = holes.find(({ begin, end }) => y >= begin && y < end);
    if (hole) return { lane, hole };
  }
  return null;
}
