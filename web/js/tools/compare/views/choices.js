// @ts-check
// The side panel: the program before and the program after, each of any session.
import { button, el } from "../../../base/dom.js";
import { createPicker } from "../../../shell/picker.js";
import { largestFirst } from "../data/pair.js";

/** @param {{pick: (patch: any) => void, swap: () => void}} actions */
export function createChoices({ pick, swap }) {
  const before = createPicker("Before", (module_name) => pick({ module_name, host: null }));
  const sessions = createPicker("After in", (run_b) => pick({ run_b, module_b: null, host_b: null }));
  const after = createPicker("After", (module_b) => pick({ module_b, host_b: null }));
  const title = "Swap before and after (x)";
  const turn = button("⇅ swap", swap, { class: "quiet small", title, id: "compare-swap" });
  const options = (modules) => largestFirst(modules).map(({ name }) => ({ value: name, label: name }));
  return {
    node: el("div", { class: "choices" }, before.node, sessions.node, after.node, turn),
    showBefore: (modules, name) => before.show(options(modules), name),
    showSessions: (names, name) =>
      sessions.show(
        names.map((one) => ({ value: one, label: one })),
        name,
      ),
    showAfter: (modules, name) => after.show(options(modules), name),
  };
}
