// @ts-check
// The first line: which program, how much memory at its peak, and whether that fits.
import { fetchDevices } from "../../../api.js";
import { capacityOfDevice, whereCapacityIsFrom } from "../../../base/devices.js";
import { el, setText } from "../../../base/dom.js";
import { formatSize, exactBytes } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { createCapacityField } from "../../../base/param_field.js";
import { together } from "../../../base/upkeep.js";
import { viewName } from "../../../base/view_name.js";
import { fitOf } from "../data/composition.js";

export function createHeadline(state, params, view) {
  const capacity = createCapacityField(params, {
    askDevices: fetchDevices,
    id: "capacity",
    label: "of",
    placeholder: "capacity",
    title:
      "Memory of the device, such as 15.75GiB or TPU v5e: draws the line and says whether the program fits; " +
      "remembered for this host",
  });
  const figures = el("div", { class: "headline-figures" });
  const verdict = el("span", { class: "verdict", role: "status" });
  const host = view.host ? `, host ${view.host}` : "";
  const title = `${view.session} / ${view.module}${host}`;
  const name = viewName(view.session, view.module, view.memory_space_name, title);
  const from = el("span", { class: "note capacity-from" });
  const node = el("div", { class: "headline" }, figures, capacity.node, verdict, from);
  let device = /** @type {import("../../../base/devices.js").ProfiledDevice | null} */ (null);

  function show() {
    const { unit, capacity: bytes } = state.get();
    figures.replaceChildren(
      el("strong", {}, sizeFigure(view.totals.peak_bytes, unit)),
      " peak",
      ...(differs(view.totals) ? [", ", sizeFigure(view.totals.total_allocation_bytes, unit), " total"] : []),
    );
    showVerdict(verdict, fitOf(view.totals, bytes), unit);
    showWhereFrom();
  }

  /** The capacity that the profile tells, where that is the one in the field. */
  function showWhereFrom() {
    const isTold = device !== null && params.get().capacity === capacityOfDevice(device);
    setText(from, isTold ? "as the profile says" : "");
    from.title = device ? whereCapacityIsFrom(device) : "";
  }

  function tellDevice(told) {
    device = told;
    showWhereFrom();
  }

  const stop = state.watch(["unit", "capacity"], show);
  show();
  return { name, node, tellDevice, dispose: together(stop, capacity.dispose) };
}

const TOLD_FROM = 0.01;

/** The total is among the facts; here only where it is clearly another figure than the peak. */
function differs({ peak_bytes: peak, total_allocation_bytes: total }) {
  return Math.abs(total - peak) > TOLD_FROM * peak;
}

function showVerdict(node, fit, unit) {
  const size = formatSize(fit.byBytes, unit);
  node.className = `verdict ${fit.state}`;
  node.title = fit.byBytes ? exactBytes(fit.byBytes) : "";
  setText(
    node,
    {
      unknown: "",
      overflow: `OVERFLOW by ${size}`,
      fragmented: `may fit: the peak does, over by ${size} with fragmentation`,
      fits: `fits, ${size} free`,
    }[fit.state],
  );
}
