// @ts-check
// How the two views of memory differ, said where one of them is looked at, with the way to the other.
import { button, el } from "../base/dom.js";

const WAYS = {
  memory_viewer: {
    text:
      "Memory Viewer: what the compiler planned for one module, in program order. " +
      "What the allocator did for all modules, in time: ",
    other: "memory_profile",
    name: "Memory Profile",
  },
  memory_profile: {
    text:
      "Memory Profile: what the allocator did for all modules, in time. " +
      "What the compiler planned for one module, in program order: ",
    other: "memory_viewer",
    name: "Memory Viewer",
  },
};

/** @param {"memory_viewer" | "memory_profile"} id @param {(id: string) => void} openTool */
export function otherToolLine(id, openTool) {
  const { text, other, name } = WAYS[id];
  return el("p", { class: "note other-tool" }, text, toolLink(other, name, openTool));
}

export function toolLink(id, name, openTool) {
  return button(name, () => openTool(id), { class: "link", data: { tool: id } });
}
