// @ts-check
// HLO Modules of the session: peak beside each, largest first, with a filter. Figures arrive while the page is in use.
import { el, setText } from "../../../base/dom.js";
import { exactBytes, formatSize } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { createSearchBox } from "../../../base/search_box.js";
import { matcher } from "../../../base/text_match.js";
import { findModule, namedHosts, peakOf, sortModules } from "../data/modules.js";

export function createModuleList(params, onOpen) {
  const title = el("h2", { class: "side-title" }, "HLO Modules");
  let wanted = "";
  const filter = createSearchBox({
    get: () => wanted,
    set(text) {
      wanted = text;
      show();
    },
    watch: () => () => {},
    id: "module-filter",
    placeholder: "filter modules",
    label: "filter modules",
  });
  const list = el("ul", { class: "modules", "aria-label": "HLO modules" });
  const none = el("p", { class: "side-note" });
  const node = el(
    "section",
    { class: "side-section modules-section" },
    el("div", { class: "side-head" }, title),
    filter.node,
    list,
    none,
  );
  let modules = [];
  let asTold = [];
  let hasHosts = false;
  let saysWhere = false;

  function setModules(reply) {
    asTold = reply.modules;
    modules = sortModules(asTold);
    hasHosts = namedHosts(reply).length > 0;
    saysWhere = reply.hosts.length > 1;
    filter.node.hidden = modules.length < 4;
    show();
  }

  function shown() {
    const { host } = params.get();
    const test = matcher(wanted);
    return modules.filter(
      (one) => (!host || !hasHosts || one.hosts.length === 0 || one.hosts.includes(host)) && (!test || test(one.name)),
    );
  }

  function show() {
    const rows = shown();
    const open = openModule();
    const largest = Math.max(1, ...modules.map((one) => peakOf(one) ?? 0));
    const unit = unitMode(params.get());
    setText(
      title,
      `HLO Modules (${rows.length === modules.length ? modules.length : `${rows.length} of ${modules.length}`})`,
    );
    const focused = /** @type {HTMLElement | null | undefined} */ (document.activeElement?.closest(".module"))?.dataset;
    list.replaceChildren(...rows.map((one) => moduleRow(one, { open, largest, unit, saysWhere, onOpen })));
    if (focused)
      [...list.querySelectorAll(".module")]
        .find((row) => row.dataset.name === focused.name && row.dataset.host === focused.host)
        ?.focus();
    setText(none, modules.length > 0 && rows.length === 0 ? "No module matches." : "");
  }

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

  const stop = params.watch(["module_name", "host", "unit"], () => {
    show();
    showOpen();
  });
  function showOpen() {
    list.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  }
  return { node, setModules, neighbour, first: () => modules[0] ?? null, dispose: stop };
}

function moduleRow(one, { open, largest, unit, saysWhere, onOpen }) {
  const peak = peakOf(one);
  const track = el("span", { class: "module-track" });
  track.style.width = `${(100 * (peak ?? 0)) / largest}%`;
  const where = one.hosts.join(", ");
  const hosts = saysWhere && where ? el("span", { class: "module-hosts ellipsis" }, where) : null;
  const row = el(
    "button",
    {
      type: "button",
      class: "module",
      data: { name: one.name, host: one.host },
      title: tooltip(one, peak),
      "aria-current": one === open ? "true" : null,
      on: { click: () => onOpen(one) },
    },
    track,
    el("span", { class: "module-name ellipsis" }, one.name),
    figure(one, peak, unit),
    hosts,
  );
  return el("li", {}, row);
}

function figure(one, peak, unit) {
  if (one.state === "error") return el("span", { class: "module-error" }, "error");
  return peak === null ? el("span", { class: "figure unit" }, "…") : sizeFigure(peak, unit);
}

function tooltip(one, peak) {
  if (one.state === "error") return `${one.name}: ${one.error?.message ?? "cannot be read"}`;
  const size = peak === null ? "being computed" : `${formatSize(peak)} (${exactBytes(peak)}) at peak`;
  const isFile = one.host === "" || one.host === one.file;
  return `${one.name}: ${size}; ${isFile ? `file: ${one.file}` : `hosts: ${one.hosts.join(", ")}`}`;
}
