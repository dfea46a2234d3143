// @ts-check
/**
 * The tools of the page, in the order in which they are offered; the first opens when the address names none. The
 * code of a tool is fetched when it is opened: `load` gives its mount(context) (shell/shell.js says what it gets).
 * `anywhere`: needs no session.
 * @typedef {{id: string, name: string, anywhere?: boolean, load: () => Promise<any>}} Tool
 */

/** @type {Tool[]} */
export const TOOLS = [
  {
    id: "memory_viewer",
    name: "Memory Viewer",
    load: async () => (await import("./tools/memory_viewer/tool.js")).mount,
  },
  {
    id: "memory_profile",
    name: "Memory Profile",
    load: async () => (await import("./tools/memory_profile/tool.js")).mount,
  },
  {
    id: "device_memory",
    name: "Device Memory",
    load: async () => (await import("./tools/device_memory/tool.js")).mount,
  },
  {
    id: "compare",
    name: "Compare",
    load: async () => (await import("./tools/compare/tool.js")).mount,
  },
  {
    id: "trend",
    name: "Over sessions",
    load: async () => (await import("./tools/trend/tool.js")).mount,
  },
  {
    id: "out_of_memory",
    name: "Out of memory",
    anywhere: true,
    load: async () => (await import("./tools/out_of_memory/tool.js")).mount,
  },
];

/** XProf matches tools by prefix ("memory_viewer@" and the like). @param {Tool[]} tools @param {string | null} tag */
export function findTool(tools, tag) {
  return tag === null ? null : (tools.find((tool) => tag.startsWith(tool.id)) ?? null);
}
