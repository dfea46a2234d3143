// @ts-check
// HLO Modules of the session: peak beside each, largest first, with a filter. Figures arrive while the page is in use.
// What the hosts of a pod run as one program is one entry; its variants stand below it while one of them is open.
import { el, setText } from "../../../base/dom.js";
import { exactBytes, formatSize } from "../../../base/format.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { createSearchBox } from "../../../base/search_box.js";
import { createSideList } from "../../../base/side_list.js";
import { createStore } from "../../../base/store.js";
import { matcher } from "../../../base/text_match.js";
import { parseSize } from "../../../base/size_text.js";
import { findModule, fitOfModule, foldModules, hostsText, namedHosts, peakOf, sortModules } from "../data/modules.js";

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

  /** Entries to show, each a module and what it is a variant of: of a host's, and of names that match. */
  function shown() {
    const { host } = params.get();
    const test = matcher(wanted.get().name);
    const isOf = (one) => !host || !hasHosts || one.hosts.length === 0 || one.hosts.includes(host);
    const open = openModule();
    return foldModules(modules).flatMap(({ variants }) => {
      const here = variants.filter((one) => isOf(one) && (!test || test(one.name)));
      if (here.length === 0) return [];
      const whole = { module: here.includes(open) ? open : here[0], variants };
      const isOpen = variants.length > 1 && variants.includes(open);
      const isNamed = variants.some((one) => one.name !== variants[0].name);
      const part = (module) => ({ module, variants: [module], isPart: true, isNamed });
      return isOpen ? [whole, ...variants.map(part)] : [whole];
    });
  }

  function show() {
    const rows = shown();
    const largest = Math.max(1, ...modules.map((one) => peakOf(one) ?? 0));
    const capacity = parseSize(params.get().capacity);
    const fit = (one) => fitOfModule(one, spaceNow(), capacity);
    const entries = rows.map((row) => entryOf(row, { largest, saysWhere, fit: fit(row.module) }));
    const all = foldModules(modules).length;
    const few = rows.filter((row) => !row.isPart).length;
    const count = few === all ? all : `${few} of ${all}`;
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
    const open = openModule();
    const rows = shown().filter((row) => !(row.variants.length > 1 && row.variants.includes(open)));
    if (rows.length === 0) return null;
    const at = rows.findIndex((row) => row.module === open);
    return rows[Math.max(0, Math.min(rows.length - 1, at + delta))].module;
  }

  const stop = params.watch(["module_name", "host", "unit", "capacity", "memory_space"], () => {
    show();
    list.showChosen();
  });
  return { node: list.node, setModules, neighbour, first: () => modules[0] ?? null, dispose: stop };
}

function entryOf({ module: one, variants, isPart = false, isNamed = false }, { largest, saysWhere, fit }) {
  const peak = peakOf(one);
  const where = hostsText(variants);
  return {
    value: one,
    key: `${isPart ? "variant " : ""}${one.name} ${one.host}`,
    label: isPart ? where.replace(", same program", "") : one.name,
    title: tooltip(one, peak, variants),
    bytes: peak,
    isBroken: one.state === "error",
    isPending: peak === null,
    isPart,
    share: (peak ?? 0) / largest,
    fit,
    below: (saysWhere && (isPart ? isNamed && one.name : where)) || undefined,
  };
}

const MOST_NAMED = 16; // hosts that a tooltip names

function tooltip(one, peak, variants) {
  if (one.state === "error") return `${one.name}: ${one.error?.message ?? "cannot be read"}`;
  const size = peak === null ? "being computed" : `${formatSize(peak)} (${exactBytes(peak)}) at peak`;
  const isFile = one.host === "" || one.host === one.file;
  const about = variants.length > 1 ? `; ${hostsText(variants)}` : "";
  return `${one.name}: ${size}; ${isFile ? `file: ${one.file}` : `hosts: ${hostList(one.hosts)}`}${about}`;
}

function hostList(hosts) {
  const left = hosts.length - MOST_NAMED;
  return hosts.slice(0, MOST_NAMED).join(", ") + (left > 0 ? ` and ${left} more` : "");
}
