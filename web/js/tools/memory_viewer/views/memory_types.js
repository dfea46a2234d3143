// @ts-check
// Memory Types: the memory spaces that hold something, with what they hold.
import { exactBytes } from "../../../base/format.js";
import { createSideList } from "../../../base/side_list.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { sizeOfSpace, spacesWithData } from "../data/modules.js";

export function createMemoryTypes(params) {
  const list = createSideList("Memory Types", pick);
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
    list.show(spaces.map(entryOf), open, mode);
  }

  function pick(space) {
    const { memory_space: before, capacity: known } = params.get();
    if (space === Number(before ?? 0)) return;
    capacities.set(Number(before ?? 0), known);
    const capacity = capacities.get(space) ?? null;
    params.go({ memory_space: space === 0 ? null : String(space), step: null, buffer: null, zoom: null, capacity });
  }

  const stop = params.watch(["memory_space", "unit"], show);
  return { node: list.node, setSpaces, dispose: stop };
}

function entryOf(one) {
  const title = `${one.name}: ${exactBytes(one.peak_bytes)} at peak, ${exactBytes(one.total_allocation_bytes)} in all`;
  return { value: one.space, label: one.name, title, bytes: sizeOfSpace(one) };
}
