// @ts-check
// What a request can get: the largest free block over time, and the moments when a request did not fit, or barely.
import { fetchEvents, fetchPressure } from "../../../../api.js";
import { el, setText } from "../../../../base/dom.js";
import { swatch } from "../../../../base/figures.js";
import { pickUnit, plural } from "../../../../base/format.js";
import { createSortedTable } from "../../../../base/sorted_table.js";
import { formatMs } from "../../../../base/time_text.js";
import { inFrame } from "../../../../base/upkeep.js";
import { errorSentence } from "../../../../shell/messages.js";
import {
  MOMENT_COLUMNS,
  MOMENT_CSV,
  eventsAround,
  isFailure,
  momentRows,
  requestSentence,
  windowOf,
} from "../data/pressure.js";
import { createChosenState } from "../chosen_state.js";
import { panelSaves } from "./controls.js";
import { createFreeChart } from "./free_chart.js";
import { createPanel } from "./panel.js";

export const fragmentationPanel = { id: "fragmentation", name: "Fragmentation", create };

function create(context) {
  const { state } = context;
  const verdict = el("p", { class: "panel-verdict", role: "status" });
  const sentence = el("p", { class: "request-sentence", "aria-live": "off" });
  const problem = el("p", { class: "error-line", hidden: true });
  const note = el("p", { class: "note" });
  const chosen = createChosenState(context, tell);
  const chart = createFreeChart(context, { onError: showProblem, onSteps: stepsChanged });
  const table = createSortedTable({
    label: "moments when memory was tight",
    className: "moments-grid",
    columns: MOMENT_COLUMNS,
    usual: "time",
    order: {
      get: () => order,
      set(word) {
        order = word;
        arrange();
      },
    },
    id: (row) => row.id,
    pick: pickUnit,
    fill: nameRequest,
    decorate(node, row) {
      node.title = row.text;
      node.classList.toggle("failed", isFailure(row));
    },
    onOpen: goToMoment,
  });
  const saves = panelSaves(context, "tight moments", {
    table: { columns: () => MOMENT_CSV, rows: () => table.lines() },
  });
  const tableHead = el("div", { class: "panel-controls" }, el("h3", {}, "Moments when memory was tight"), saves);
  const panel = createPanel(context, {
    title: "Fragmentation",
    head: [verdict, panelSaves(context, "free memory", { picture: () => chart.node })],
    content: [sentence, key(), chart.node, problem, tableHead, table.node, note],
    label: "looking for tight moments",
    fetch: (_, signal) => fetchPressure(context.where, signal),
    show: chosenChanged,
    arrange,
    watches: ["unit"],
    stops: [
      inFrame(state, ["hover"], tell),
      state.watch(["at", "row"], chosenChanged),
      chosen.stop,
      chart.dispose,
      table.dispose,
    ],
  });
  let order = null; // this table's own: it is not in the address

  function nameRequest(cell, { key }, row) {
    if (key === "request" && !row.request_is_known && row.request_bytes !== null) {
      cell.append("> ");
      cell.title = "The request itself left no event. It was larger than the largest free block.";
    }
    return false;
  }

  function chosenChanged() {
    chosen.update();
  }

  function arrange() {
    const reply = panel.reply();
    const rows = momentRows(reply);
    const knowsFree = reply.state !== "unknown";
    table.show(rows, state.get().unit);
    chart.showMoments(rows);
    setText(verdict, reply.text);
    verdict.classList.toggle("leaks", reply.state === "failed");
    for (const part of [sentence, chart.node, tableHead, table.node]) part.hidden = !knowsFree;
    const left = reply.left_out > 0 ? ` ${plural(reply.left_out, "more moment")} left out.` : "";
    setText(
      note,
      `Largest free block = free × (1 − fragmentation). Click a moment to see it in the timeline.${left}`,
    );
    note.hidden = !knowsFree;
    tell();
  }

  /** Under the mouse, else at the chosen time. */
  function tell() {
    const { hover, unit } = state.get();
    const found = hover ? chart.at(hover.time) : null;
    const now = found ? { ...found, time: hover.time } : chosen.get();
    if (!now) return setText(sentence, " ");
    const where = `${found ? "Under the mouse" : state.get().at === null ? "At the peak" : "At the chosen time"}`;
    const about = found && !found.isCalm ? " (the least within this pixel)" : "";
    setText(sentence, `${where}, ${formatMs(now.time)}${about}: ${requestSentence(now.free, now.largest, unit)}`);
  }

  async function goToMoment(moment) {
    const { first, last } = eventsAround(moment, context.overview.events);
    const timeOf = async (row) => (await fetchEvents(context.where, { row })).time_ps[0];
    try {
      const [firstPs, lastPs] = await Promise.all([timeOf(first), timeOf(last)]);
      context.goTo({ at: moment.time_ps, row: moment.row, ...windowOf(moment, firstPs, lastPs) });
    } catch (error) {
      showProblem(error);
    }
  }

  function stepsChanged() {
    problem.hidden = true;
    tell();
  }

  function showProblem(error) {
    problem.hidden = false;
    setText(problem, errorSentence(error));
  }

  return panel;
}

function key() {
  return el(
    "p",
    { class: "free-key" },
    swatch("largest"),
    "largest free block",
    swatch("mem-free"),
    "free, but in smaller pieces",
    swatch("danger"),
    "a request seems to have failed",
  );
}
