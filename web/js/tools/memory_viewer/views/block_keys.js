// @ts-check
// The timeline under the keys, once it has the focus: up and down go from block to block among those at the cursor's
// step, Enter and Space pin. What moves the cursor is the tool's (tool_keys.js).
import { range } from "../../../base/range.js";
import { isFolded } from "../layout/shown_blocks.js";
import { nextInStack } from "../layout/blocks.js";

/** @returns {() => void} stops it */
export function attachBlockKeys(node, state) {
  const { blocks } = state;

  function move(direction) {
    const { step, folded, hover, pinned, x, y } = state.get();
    const live = state.blockIndex().within(step, step).filter((i) => !isFolded(blocks, folded, i));
    const from = hover ?? pinned;
    const at = from === null || blocks.indexOfRow[from] < 0 ? null : blocks.indexOfRow[from];
    const next = nextInStack(blocks, live, step, at, direction, y);
    if (next < 0) return;
    state.actions.hoverStep(null);
    state.actions.hoverRow(blocks.row[next]);
    const steps = step >= x.begin && step < x.end ? x : range(step, step + 1);
    state.actions.revealAt(steps, range(blocks.y0[next], blocks.y1[next]));
  }

  function pin() {
    const { hover } = state.get();
    if (hover !== null) state.actions.pinRow(hover);
  }

  const does = { ArrowUp: () => move(1), ArrowDown: () => move(-1), Enter: pin, " ": pin };

  function onKey(event) {
    const run = event.target === node && !event.ctrlKey && !event.metaKey && !event.altKey && does[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  }

  const letGo = () => state.actions.hoverRow(null);
  node.addEventListener("keydown", onKey);
  node.addEventListener("blur", letGo);
  return () => {
    node.removeEventListener("keydown", onKey);
    node.removeEventListener("blur", letGo);
  };
}
