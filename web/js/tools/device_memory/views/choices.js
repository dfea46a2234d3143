// @ts-check
// The side panel: which file, what kind of thing, on which device. Each with what it holds.
import { el, setText } from "../../../base/dom.js";
import { exactBytes, plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { unitMode } from "../../../shell/unit_switch.js";

/** @typedef {{value: string | null, label: string, bytes: number, count: number, error?: string}} Choice */

export function createChoices(params, onOpenFile) {
  const files = createList("Files", onOpenFile);
  const kinds = createList("Kinds", (kind) => params.set({ kind, zoom: null }));
  const devices = createList("Devices", (device) => params.set({ device, zoom: null }));
  let reply = { files: [] };
  let open = null;

  function show() {
    const mode = unitMode(params.get());
    const { kind = null, device = null } = params.get();
    files.show(reply.files.map(fileChoice), open, mode);
    const groups = reply.files.find((file) => file.name === open)?.groups ?? [];
    const ofDevice = groups.filter((group) => device === null || group.device === device);
    const ofKind = groups.filter((group) => kind === null || group.kind === kind);
    kinds.show(choicesOf(groups, ofDevice, "kind", "all kinds"), kind, mode);
    devices.show(choicesOf(groups, ofKind, "device", "all devices"), device, mode);
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

function fileChoice(file) {
  return { value: file.name, label: file.name, bytes: file.bytes, count: file.count, error: file.error?.message };
}

/** @returns {Choice[]} all, then each that the profile has, with what it holds of the groups that are let through */
export function choicesOf(groups, counted, key, all) {
  const names = [...new Set(groups.map((group) => group[key]))].sort(byNumberInName);
  const sum = (list) => ({
    bytes: list.reduce((total, group) => total + group.bytes, 0),
    count: list.reduce((total, group) => total + group.count, 0),
  });
  return [
    { value: null, label: all, ...sum(counted) },
    ...names.map((name) => ({
      value: name,
      label: name || "(not told)",
      ...sum(counted.filter((group) => group[key] === name)),
    })),
  ];
}

/** cpu:2 before cpu:10. */
function byNumberInName(a, b) {
  return a.localeCompare(b, "en", { numeric: true });
}

function createList(noun, onPick) {
  const title = el("h2", { class: "side-title" }, noun);
  const list = el("ul", { class: "spaces", "aria-label": noun.toLowerCase() });
  const node = el("section", { class: "side-section", hidden: true }, el("div", { class: "side-head" }, title), list);

  /** @param {Choice[]} choices */
  function show(choices, chosen, mode) {
    const count = choices.filter((choice) => choice.value !== null).length;
    node.hidden = count === 0;
    setText(title, `${noun} (${count})`);
    const focused = document.activeElement?.closest(".space")?.getAttribute("data-value");
    list.replaceChildren(...choices.map((choice) => row(choice, chosen, mode, onPick)));
    if (focused) [...list.querySelectorAll(".space")].find((one) => one.dataset.value === focused)?.focus();
  }

  return { node, show };
}

function row(choice, chosen, mode, onPick) {
  const title = choice.error ?? `${choice.label}: ${exactBytes(choice.bytes)} in ${plural(choice.count, "object")}`;
  const figure = choice.error ? el("span", { class: "module-error" }, "error") : sizeFigure(choice.bytes, mode);
  return el(
    "li",
    {},
    el(
      "button",
      {
        type: "button",
        class: "space",
        title,
        data: { value: String(choice.value) },
        "aria-current": choice.value === chosen ? "true" : null,
        on: { click: () => onPick(choice.value) },
      },
      el("span", { class: "ellipsis" }, choice.label),
      figure,
    ),
  );
}
