// @ts-check
// "by [line | stack | scope | ...]": how the memory is grouped. One stop for Tab; the arrow keys choose.
import { el } from "../../../base/dom.js";
import { WAYS } from "../data/groups.js";

export function createWaySwitch(state) {
  const fields = WAYS.map(({ by }) =>
    el("input", { type: "radio", name: "group-by", value: by, on: { change: () => state.actions.groupBy(by) } }),
  );
  const node = el(
    "span",
    { class: "ways", role: "radiogroup", "aria-label": "group by" },
    "by ",
    ...WAYS.map(({ label, title }, i) => el("label", { class: "way", title }, fields[i], el("span", {}, label))),
  );

  function show() {
    const { by } = state.get();
    for (const field of fields) field.checked = field.value === by;
  }

  const dispose = state.watch(["by"], show);
  show();
  return { node, dispose };
}
