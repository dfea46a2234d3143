// @ts-check
// The side panel: which file, what kind of thing, on which device. Each with what it holds.
import { el } from "../../../base/dom.js";
import { exactBytes, plural } from "../../../base/format.js";
import { createSideList } from "../../../base/side_list.js";
import { unitMode } from "../../../shell/unit_switch.js";

export function createChoices(params, onOpenFile) {
  const files = createSideList("Files", onOpenFile);
  const kinds = createSideList("Kinds", (kind) => params.set({ kind, zoom: null }));
  const devices = createSideList("Devices", (device) => params.set({ device, zoom: null }));
  let reply = { files: [] };
  let open = null;

  function show() {
    const mode = unitMode(params.get());
    const { kind = null, device = null } = params.get();
    files.show(
      reply.files.map((file) => entryOf(file.name, file.name, file)),
      open,
      mode,
    );
    const groups = reply.files.find((file) => file.name === open)?.groups ?? [];
    const ofDevice = groups.filter((group) => device === null || group.device === device);
    const ofKind = groups.filter((group) => kind === null || group.kind === kind);
    const showNamed = (list, entries, chosen) => list.show(entries, chosen, mode, entries.length - 1);
    showNamed(kinds, choicesOf(groups, ofDevice, "kind", "all kinds"), kind);
    showNamed(devices, choicesOf(groups, ofKind, "device", "all devices"), device);
  }

  const stop = params.watch(["kind", "device", "unit"], show);
  return {
    node: el("div", { class: "choices" }, files.node, kinds.node, devices.node),
    setFiles(now, file) {
      reply = now;
      open = file;
      show();
    },
    neighbour(delta) {
      const names = reply.files.map((file) => file.name);
      const at = names.indexOf(open) + delta;
      return names[Math.max(0, Math.min(names.length - 1, at))] ?? null;
    },
    dispose: stop,
  };
}

/** All, then each that the profile has, with what it holds of the groups that are let through. */
export function choicesOf(groups, counted, key, all) {
  const names = [...new Set(groups.map((group) => group[key]))].sort(byNumberInName);
  const sum = (list) => ({
    bytes: list.reduce((total, group) => total + group.bytes, 0),
    count: list.reduce((total, group) => total + group.count, 0),
  });
  const named = (name) => sum(counted.filter((group) => group[key] === name));
  return [entryOf(null, all, sum(counted)), ...names.map((name) => entryOf(name, name || "(not told)", named(name)))];
}

/** @param {{bytes: number, count: number, error?: {message: string}}} what */
function entryOf(value, label, what) {
  const { bytes, count, error } = what;
  return { value, label, bytes, isBroken: Boolean(error), title: error?.message ?? titleOf(label, bytes, count) };
}

const titleOf = (label, bytes, count) => `${label}: ${exactBytes(bytes)} in ${plural(count, "object")}`;

/** cpu:2 before cpu:10. */
function byNumberInName(a, b) {
  return a.localeCompare(b, "en", { numeric: true });
}
