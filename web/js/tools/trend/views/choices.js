// @ts-check
// The side panel: what is followed, and of which kind.
import { el } from "../../../base/dom.js";
import { createPicker } from "../../../shell/picker.js";

const KINDS = [
  { value: "memory_viewer", label: "programs: what they need" },
  { value: "memory_profile", label: "allocators: what they did" },
  { value: "device_memory", label: "device memory profiles" },
];

/** @param {(patch: any) => void} pick */
export function createChoices(pick) {
  const kinds = createPicker("Follow", (of) => pick({ of: of === "memory_viewer" ? null : of, point: null }));
  const names = createPicker("Followed", (name) => pick({ [key]: name, host: null, point: null }));
  let key = "module_name";

  function show(reply) {
    key = reply.tool === "memory_viewer" ? "module_name" : "memory_id";
    kinds.show(KINDS, reply.tool);
    const options = reply.names.map(({ name, sessions }) => ({ value: name, label: `${name} (${sessions})` }));
    names.show(options, options.length ? reply.subject : null);
  }

  return { node: el("div", { class: "choices" }, kinds.node, names.node), show };
}
