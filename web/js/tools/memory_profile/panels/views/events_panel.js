// @ts-check
// The events of the window one by one. Only what is in sight is asked for; very long windows are shown in parts, since
// no browser scrolls through millions of rows.
import { fetchEvents } from "../../../../api.js";
import { fillCell, unitsOf } from "../../../../base/cells.js";
import { button, el, setText } from "../../../../base/dom.js";
import { groupDigits, plural } from "../../../../base/format.js";
import { requestFrame } from "../../../../base/frame.js";
import { ROW_HEIGHT, createRowGrid } from "../../../../base/row_grid.js";
import { formatMs } from "../../../../base/time_text.js";
import { inFrame } from "../../../../base/upkeep.js";
import { eventsOf } from "../../data/event_facts.js";
import { CHUNK_ROWS, EVENT_COLUMNS, EVENT_CSV, createChunks } from "../data/event_columns.js";
import { panelSaves } from "./controls.js";
import { createPanel } from "./panel.js";
import { createWholeWindow } from "./whole_window.js";

const PART_ROWS = 100000;
const REST_MS = 80;
const SPARE_ROWS = 12;

export const eventsPanel = { id: "events", name: "Events", create };

function create(context) {
  const { state } = context;
  const chunks = createChunks();
  const facts = el("span", { class: "facts" });
  const only = el("input", { type: "checkbox", on: { change: () => panel.load() } });
  const parts = el("span", { class: "event-parts" });
  const savesNote = el("span", { class: "aside", role: "status" });
  const wholeWindow = createWholeWindow(context, (text) => setText(savesNote, text));
  const rows = () => wholeWindow.rows(query(), total);
  const saves = panelSaves(context, "events", { table: { columns: () => EVENT_CSV, rows } });
  const none = el("p", { class: "note", role: "status" });
  const grid = createGrid();
  const onlyLabel = el(
    "label",
    { class: "check", title: "events whose heap + stack is not the one before plus or minus what they moved" },
    only,
    "unexplained only",
  );
  const toChosen = button("to the chosen event", () => showChosen(true), { class: "quiet small" });
  const panel = createPanel(context, {
    title: "Events",
    content: [
      el("div", { class: "panel-controls" }, facts, onlyLabel, toChosen, parts, savesNote, saves),
      grid.node,
      none,
    ],
    label: "reading the events",
    query: () => ({ ...query(), limit: CHUNK_ROWS }),
    fetch: (asked, signal) => fetchEvents(context.where, asked, signal),
    show,
    arrange,
    watches: ["unit"],
    stops: [
      state.watch(["from", "to"], windowChanged),
      inFrame(state, ["at", "row"], () => showChosen(false)),
      () => [timer, askTimer].forEach(clearTimeout),
      () => waiting.abort(),
      wholeWindow.stop,
      grid.dispose,
    ],
  });
  const waiting = new AbortController();
  const asked = new Set();
  let total = 0;
  let begin = 0; // of the part that is shown
  let units = {};
  let timer = 0;
  let shownOnly = false;
  let generation = 0;
  let askTimer = 0;
  let chosenRow = state.chosenRow();

  function createGrid() {
    return createRowGrid(
      { count: () => Math.min(PART_ROWS, total - begin), id: (index) => begin + index, fill, decorate },
      {
        label: "events of the window",
        className: "events-grid",
        columns: EVENT_COLUMNS,
        onOpen: choose,
      },
    );
  }

  function query() {
    const { from, to } = state.get();
    return { from_ps: from, to_ps: to, only: only.checked ? "unexplained" : null };
  }

  function show(reply) {
    chunks.clear();
    asked.clear();
    generation += 1;
    chunks.put(0, eventsOf(reply));
    shownOnly = only.checked;
    total = reply.total;
    begin = 0;
    grid.node.scrollTop = 0;
    showChosen(false);
  }

  function arrange() {
    const { from, to, unit } = state.get();
    units = unitsOf(EVENT_COLUMNS, chunks.with(begin) ?? chunks.with(0) ?? [], unit); // of a window are much alike
    const unexplained = shownOnly ? "unexplained " : "";
    setText(facts, `${plural(total, `${unexplained}event`)} from ${formatMs(from)} to ${formatMs(to)}`);
    const nothing = shownOnly
      ? "Every event in this window is explained by the one before it."
      : "No event in this window.";
    setText(none, total === 0 ? nothing : "");
    grid.node.hidden = total === 0;
    showParts();
    grid.showSort(null);
    grid.reset();
  }

  function showParts() {
    parts.hidden = total <= PART_ROWS;
    if (parts.hidden) return;
    const end = Math.min(total, begin + PART_ROWS);
    const turn = (label, to, title) =>
      button(label, () => showPart(to), { class: "quiet small", title, disabled: to < 0 || to >= total });
    parts.replaceChildren(
      turn("‹", begin - PART_ROWS, "the part before"),
      `${groupDigits(begin + 1)} to ${groupDigits(end)}`,
      turn("›", begin + PART_ROWS, "the part after"),
    );
  }

  function showPart(to) {
    begin = to;
    grid.node.scrollTop = 0;
    arrange();
  }

  function fill(cell, column, index) {
    const event = chunks.find(begin + index);
    if (!event) {
      if (column.key === "row") cell.append("…");
      return askSoon();
    }
    fillCell(cell, column, column.value(event), units[column.key]);
  }

  function decorate(node, index) {
    const event = chunks.find(begin + index);
    if (!event) return;
    node.classList.toggle("chosen", event.row === chosenRow);
    node.classList.toggle("is-free", event.is_free);
  }

  /** What a fast scroll only passes by is not asked for. */
  function askSoon() {
    askTimer ||= window.setTimeout(() => {
      askTimer = 0;
      const first = begin + grid.firstShown();
      const last = Math.min(total, first + Math.ceil(grid.node.clientHeight / ROW_HEIGHT) + SPARE_ROWS);
      chunks.missing(first, last).forEach(ask);
    }, REST_MS);
  }

  async function ask(offset) {
    if (asked.has(offset)) return;
    asked.add(offset);
    const mine = generation;
    try {
      const reply = await fetchEvents(context.where, { ...query(), offset, limit: CHUNK_ROWS }, waiting.signal);
      if (mine !== generation) return;
      chunks.put(offset, eventsOf(reply));
      requestFrame(grid.reset);
    } catch (error) {
      if (error.name !== "AbortError") setText(none, error.message);
    } finally {
      if (mine === generation) asked.delete(offset);
    }
  }

  function choose(index) {
    const event = chunks.find(begin + index);
    if (event) context.goTo({ at: event.time_ps, row: event.row });
  }

  /** Its place in the window is the number of events of the window before it. */
  async function showChosen(scroll) {
    chosenRow = state.chosenRow();
    const time = state.chosenTime();
    const { from, to } = state.get();
    const isInside = time !== null && time >= from && time < to && !shownOnly;
    toChosen.hidden = !isInside;
    if (!isInside || !scroll) return grid.reset();
    const before =
      time > from
        ? await fetchEvents(context.where, { from_ps: from, to_ps: time, limit: 1 }, waiting.signal)
        : { total: 0 };
    const index = Math.min(total - 1, before.total);
    begin = Math.floor(index / PART_ROWS) * PART_ROWS;
    arrange();
    grid.node.scrollTop = Math.max(0, (index - begin - 5) * ROW_HEIGHT);
    requestFrame(grid.reset);
  }

  function windowChanged() {
    clearTimeout(timer);
    timer = window.setTimeout(panel.load, REST_MS);
  }

  return panel;
}
