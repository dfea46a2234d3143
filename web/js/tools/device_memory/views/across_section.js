// @ts-check
// The files of a session, and the devices of each, side by side: below the profile, read when it is painted.
import { fetchDeviceMemoryAcross } from "../../../api.js";
import { ACROSS_COLUMNS } from "../../../base/across/rows.js";
import { createAcrossView } from "../../../base/across/view.js";
import { chartSection } from "../../../base/chart_section.js";
import { together } from "../../../base/upkeep.js";
import { errorLine } from "../../../shell/messages.js";
import { unitMode } from "../../../shell/unit_switch.js";

/**
 * @param {{session: string, file: string}} reply the profile that is open
 * @param {any} params @param {(file: string, device: string) => void} onOpen
 */
export function createAcrossSection({ session, file }, params, onOpen) {
  const controller = new AbortController();
  const view = createAcrossView({
    noun: "file",
    onOpen: (row) => onOpen(row.host, row.memory_id),
    isOpen: (row) => row.host === file && [null, undefined, row.memory_id].includes(params.get().device),
    unit: () => unitMode(params.get()),
  });
  const saves = {
    what: "devices",
    from: () => [session],
    table: { columns: () => ACROSS_COLUMNS, rows: () => view.rows() },
  };
  const node = chartSection("Across files and devices", [], [view.node], { class: "chart across-section" }, saves);
  const stop = params.watch(["unit", "device"], view.redraw);

  async function start() {
    try {
      let reply;
      do {
        reply = await fetchDeviceMemoryAcross(session, controller.signal);
        if (!controller.signal.aborted) view.show(reply);
      } while (!reply.complete && !controller.signal.aborted);
    } catch (error) {
      if (error.name !== "AbortError") view.node.replaceChildren(errorLine(error));
    }
  }

  return { node, start, redraw: view.redraw, dispose: together(stop, view.dispose, () => controller.abort()) };
}
