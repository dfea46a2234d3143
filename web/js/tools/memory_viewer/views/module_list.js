// @ts-check
// HLO Modules of the session: peak beside each, largest first, with a filter. Figures arrive while the page is in use.
import { el, setText } from "../../../base/dom.js";
import { exactBytes, formatSize } from "../../../base/format.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { createSearchBox } from "../../../base/search_box.js";
import { createSideList } from "../../../base/side_list.js";
import { createStore } from "../../../base/store.js";
import { matcher } from "../../../base/text_match.js";
import { parseSize } from "../../../base/size_text.js";
import { findModule, fitOfModule, namedHosts, peakOf, sortModules } from "../data/modules.js";

export function createModuleList(params, onOpen) {
  const wanted = createStore({ name: "" });
  const search = (name) => wanted.set({ name }) && show();
  const filter = createSearchBox({ ...wanted, actions: { search } }, "name", {
    id: "module-filter",
    placeholder: "filter modules",
    label: "filter modules",
  });
  const none = el("p", { class: "side-note" });
  const list = createSideList("HLO Modules", onOpen, filter.node);
  list.node.classList.add("modules-section");
  list.node.append(none);
  let modules = [];
  let asTold = [];
  let isEmpty = true;
  let hasHosts = false;
  let saysWhere = false;

  function setModules(reply) {
    asTold = reply.modules;
    modules = sortModules(asTold);
    hasHosts = namedHosts(reply).length > 0;
    saysWhere = reply.hosts.length > 1;
    filter.node.hidden = modules.length < 4;
    const wasEmpty = isEmpty;
    isEmpty = modules.length === 0;
    show();
    if (wasEmpty) list.showChosen();
  }

  function shown() {
    const { host } = params.get();
    const test = matcher(wanted.get().name);
    return modules.filter(
      (one) => (!host || !hasHosts || one.hosts.length === 0 || one.hosts.includes(host)) && (!test || test(one.name)),
    );
  }

  function show() {
    const rows = shown();
    const largest = Math.max(1, ...modules.map((one) => peakOf(one) ?? 0));
    const capacity = parseSize(params.get().capacity);
    const fit = (one) => fitOfModule(one, spaceNow(), capacity);
    const entries = rows.map((one) => entryOf(one, { largest, saysWhere, fit: fit(one) }));
    const count = rows.length === modules.length ? modules.length : `${rows.length} of ${modules.length}`;
    list.show(entries, openModule(), unitMode(params.get()), count);
    setText(none, modules.length > 0 && rows.length === 0 ? "No module matches." : "");
  }

  const spaceNow = () => Number(params.get().memory_space ?? 0);

  function openModule() {
    const { module_name: name, host } = params.get();
    return name === null ? null : findModule(asTold, name, host);
  }

  /** The module `delta` places further down the list, as j and k go. */
  function neighbour(delta) {
    const rows = shown();
    if (rows.length === 0) return null;
    const at = rows.indexOf(openModule());
    return rows[Math.max(0, Math.min(rows.length - 1, at + delta))];
  }

  const stop = params.watch(["module_name", "host", "unit", "capacity", "memory_space"], () => {
    show();
    list.showChosen();
  });
  return { node: list.node, setModules, neighbour, first: () => modules[0] ?? null, dispose: stop };
}

function entryOf(one, { largest, saysWhere, fit }) {
  const peak = peakOf(one);
  return {
    value: one,
    key: `${one.name} ${one.host}`,
    label: one.name,
    title: tooltip(one, peak),
    bytes: peak,
    isBroken: one.state === "error",
    isPending: peak === null,
    share: (peak ?? 0) / largest,
    fit,
    below: (saysWhere && one.hosts.join(", ")) || undefined,
  };
}

function tooltip(one, peak) {
  if (one.state === "error") return `${one.name}: ${one.error?.message ?? "cannot be read"}`;
  const size = peak === null ? "being computed" : `${formatSize(peak)} (${exactBytes(peak)}) at peak`;
  const isFile = one.host === "" || one.host === one.file;
  return `${one.name}: ${size}; ${isFile ? `file: ${one.file}` : `hosts: ${one.hosts.join(", ")}`}`;
}
