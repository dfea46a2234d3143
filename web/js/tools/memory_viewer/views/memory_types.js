// @ts-check
// Memory Types: the memory spaces that hold something, with what they hold.
import { el, setText } from "../../../base/dom.js";
import { exactBytes } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { sizeOfSpace, spacesWithData } from "../data/modules.js";

export function createMemoryTypes(params) {
  const title = el("h2", { class: "side-title" }, "Memory Types");
  const list = el("ul", { class: "spaces", "aria-label": "memory types" });
  const node = el("section", { class: "side-section", hidden: true }, el("div", { class: "side-head" }, title), list);
  /** What one memory space can hold says nothing about another: each keeps its own while this list stands. */
  const capacities = new Map();
  let spaces = [];

  function setSpaces(all) {
    spaces = spacesWithData(all);
    show();
  }

  function show() {
    const mode = unitMode(params.get());
    const open = Number(params.get().memory_space ?? 0);
    node.hidden = spaces.length === 0;
    setText(title, `Memory Types (${spaces.length})`);
    list.replaceChildren(...spaces.map((one) => spaceRow(one, one.space === open, mode, () => pick(one.space))));
  }

  function pick(space) {
    const { memory_space: before, capacity: known } = params.get();
    if (space === Number(before ?? 0)) return;
    capacities.set(Number(before ?? 0), known);
    const capacity = capacities.get(space) ?? null;
    params.go({ memory_space: space === 0 ? null : String(space), step: null, buffer: null, zoom: null, capacity });
  }

  const stop = params.watch(["memory_space", "unit"], show);
  return { node, setSpaces, dispose: stop };
}

function spaceRow(one, isOpen, mode, onPick) {
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "space",
        "aria-current": isOpen ? "true" : null,
        on: { click: onPick },
        title: `${one.name}: ${exactBytes(one.peak_bytes)} at peak, ${exactBytes(one.total_allocation_bytes)} in all`,
      },
      el("span", { class: "ellipsis" }, one.name),
      sizeFigure(sizeOfSpace(one), mode),
    ),
  );
}
