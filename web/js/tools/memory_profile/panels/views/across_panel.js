// @ts-check
// All hosts and devices side by side: whose memory fills otherwise, and with what. Hosts are read while one looks.
import { fetchAcross } from "../../../../api.js";
import { ACROSS_COLUMNS } from "../../../../base/across/rows.js";
import { createAcrossView } from "../../../../base/across/view.js";
import { together } from "../../../../base/upkeep.js";
import { panelSaves } from "./controls.js";
import { createPanel } from "./panel.js";

export const acrossPanel = { id: "across", name: "Across hosts", create };

function create(context) {
  const { state, where, openMemory } = context;
  const controller = new AbortController();
  const view = createAcrossView({
    noun: "host",
    onOpen: (row) => openMemory(row.host, row.memory_id),
    isOpen: (row) => row.host === where.host && row.memory_id === where.memoryId,
    unit: () => state.get().unit,
  });
  const saves = panelSaves(context, "hosts", {
    picture: () => view.node,
    table: { columns: () => ACROSS_COLUMNS, rows: () => view.rows() },
  });
  view.node.firstChild.append(saves);
  return createPanel(context, {
    title: "Across hosts",
    content: [view.node],
    label: `comparing the hosts of ${where.session}`,
    fetch: (_, signal) => fetchAcross(where.session, signal),
    show: goOn,
    arrange: view.redraw,
    watches: ["unit"],
    stops: [together(view.dispose, () => controller.abort())],
  });

  /** What is read by then is shown; each answer brings more. */
  async function goOn(reply) {
    view.show(reply);
    try {
      while (!reply.complete && !controller.signal.aborted) {
        const label = `comparing hosts: ${reply.read} of ${reply.hosts} read`;
        reply = await context.progress.during(label, fetchAcross(where.session, controller.signal));
        if (!controller.signal.aborted) view.show(reply);
      }
    } catch (error) {
      if (error.name !== "AbortError") view.fail(error);
    }
  }
}
