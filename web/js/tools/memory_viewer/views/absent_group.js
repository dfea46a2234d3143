// @ts-check
// What is said where the pinned group has no buffer at the step in sight: when it holds most, and the way there.
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, groupDigits } from "../../../base/format.js";
import { curveOf, highestStep } from "../data/group_rows.js";

/** Hidden unless `show` is told that the group is absent. */
export function createAbsentGroup(state, id) {
  const text = el("span");
  const go = button("", () => state.actions.setStep(highest), { class: "quiet small", id });
  const node = el("p", { class: "note", hidden: true }, text, " ", go);
  let highest = 0;

  function show(isAbsent) {
    const { held, step, unit } = state.get();
    node.hidden = !isAbsent || held === null;
    if (node.hidden) return;
    const curve = curveOf(state.model, held);
    const at = highestStep(curve);
    go.hidden = at === null;
    const elsewhere = at === null ? ", nor at any other." : ".";
    setText(text, `${held.name} holds nothing at step ${groupDigits(step)}${elsewhere}`);
    if (at === null) return;
    highest = at;
    setText(go, `it holds most at step ${groupDigits(at)}: ${formatSize(curve[at], unit)}`);
  }

  return { node, show };
}
