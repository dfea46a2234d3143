// @ts-check
// One memory on the page: its state, the timeline with those drawn over it, and the panels below.
import { fetchFindings, fetchModuleRuns, fetchSteps } from "../../api.js";
import { el } from "../../base/dom.js";
import { requestFrame } from "../../base/frame.js";
import { range } from "../../base/range.js";
import { together } from "../../base/upkeep.js";
import { viewName } from "../../base/view_name.js";
import { errorSentence } from "../../shell/messages.js";
import { otherToolLine } from "../../shell/other_tool.js";
import { overlaidMemories, windowOf } from "./data/memories.js";
import { notesOf } from "./data/overview_rows.js";
import { createEventDetails } from "./event_details.js";
import { createLanes } from "./lanes.js";
import { usualHeights } from "./layout/frame.js";
import { idleInAll, silencesOf } from "./layout/time_axis.js";
import { OVER_COLORS } from "./draw/area_painter.js";
import { panelsFor } from "./panels/index.js";
import { createProfileState } from "./profile_state.js";
import { createTimelineFeed } from "./timeline_feed.js";
import { createEventCard } from "./views/event_card.js";
import { createFindings } from "./views/findings_view.js";
import { createHeadline } from "./views/headline.js";
import { createPanelPlaces } from "./views/panel_places.js";
import { createSummary } from "./views/summary_view.js";
import { createTimeline } from "./views/timeline_view.js";

/** What all events are gone through for does not delay the curve; of so few it is there with it, and nothing moves. */
const SMALL_EVENTS = 50000;

/** @param {{session: string, reply: any, memories: any[], chosen: any, shell: any, overviewNode: HTMLElement,
 *          openMemory: (host: string, memoryId: string) => void}} parts */
export function createWorkspace({ session, reply, memories, chosen, shell, overviewNode, openMemory }) {
  const { params, progress } = shell;
  const { host, memory } = chosen;
  const where = { session, host: host.host, memoryId: memory.memory_id };
  const full = windowOf(memories);
  const peak = { ps: memory.peak_ps, row: memory.peak_row };
  const showsIdle = host.module_runs > 0; // they may run while no allocator is asked
  const state = createProfileState(
    { window: full, silences: silencesNow(), showsIdle, heights: heightsNow(), peak },
    params,
  );
  const details = createEventDetails(where, memory.events);
  const lanes = createLanes({ host, fetchSteps: () => fetchSteps(where), fetchRuns: () => fetchModuleRuns(where) });
  const feeds = new Map();
  const fault = el("p", { class: "note error-line", hidden: true, role: "status" });
  const from = () => [session, host.host, memory.memory_id];
  const timeline = createTimeline({ state, memory, feeds: feedsNow, lanes: lanes.get, from, onRow: chooseRow });
  const card = createEventCard(state, memory, details, moveEvent);
  const headline = createHeadline(state, memory, () => goTo({ at: null }));
  const isAlone = memories.length === 1 && reply.hosts.length === 1; // its row says what the facts say
  const summary = createSummary(state, memory, notesOf(reply, chosen), [
    ...(isAlone ? [overviewNode] : []),
    otherToolLine("memory_profile", shell.openTool),
  ]);
  const context = { where, overview: memory, host, state, params, progress, goTo, goToEvent, openMemory };
  const places = createPanelPlaces(panelsFor(memories, reply.hosts), context);
  const findings = createFindings({ fetch: (signal) => fetchFindings(where, signal), onOpen: openFinding });
  const parts = [timeline, card, headline, findings, summary, places];
  const main = el(
    "div",
    { class: "workspace profile" },
    el(
      "div",
      { class: "figures-line" },
      headline.node,
      el("span", { class: "figures-tools" }, ...summary.openers),
    ),
    findings.node,
    ...summary.bodies,
    isAlone ? null : overviewNode,
    timeline.node,
    fault,
    places.node,
  );
  const top = viewName(session, memory.memory_id, host.host, `${session} / ${memory.memory_id}, host ${host.host}`);
  const isSmall = memory.events <= SMALL_EVENTS;
  let steppingFrom = null;
  let isPainted = false;

  function overNow() {
    return overlaidMemories(memories, params.get().overlay, chosen);
  }

  function heightsNow() {
    return usualHeights([chosen, ...overNow()].map((one) => one.memory));
  }

  /** What the axis may leave out is idle in all memories that are drawn. */
  function silencesNow() {
    return idleInAll([chosen, ...overNow()].map((one) => silencesOf(one.memory, full)));
  }

  function feedOf(one) {
    if (!feeds.has(one.token)) {
      const place = { session, host: one.host.host, memoryId: one.memory.memory_id };
      feeds.set(one.token, createTimelineFeed(place, full, { onCurve, onError }));
    }
    return feeds.get(one.token);
  }

  function feedsNow() {
    const over = overNow().map((one, i) => ({
      feed: feedOf(one),
      color: `over-${(i % OVER_COLORS) + 1}`,
      name: one.host.host === host.host ? one.memory.memory_id : `${one.memory.memory_id} (${one.host.host})`,
    }));
    return { own: { feed: feedOf(chosen) }, over };
  }

  function onCurve() {
    fault.hidden = true;
    timeline.curvesChanged();
    if (isPainted) return;
    isPainted = true;
    requestFrame(() => performance.mark("hbmview-painted"));
    if (!isSmall) findings.load();
  }

  function onError(error) {
    fault.hidden = false;
    fault.textContent = errorSentence(error);
    performance.mark("hbmview-painted");
  }

  async function chooseRow(row, time) {
    const known = details.get(row)?.event;
    state.actions.choose(known?.time_ps ?? time, known ? row : null);
    if (!known) await orSay(details.at(row).then((event) => event && state.actions.choose(event.time_ps, event.row)));
  }

  /** Keys come faster than answers: each goes on from where the one before it will end. */
  async function moveEvent(delta) {
    state.actions.hoverAt(null);
    const from = steppingFrom ?? state.chosenRow();
    if (from === null) return;
    const row = Math.max(0, Math.min(memory.events - 1, from + delta));
    steppingFrom = row;
    await goToEvent(row);
    if (steppingFrom === row) steppingFrom = null;
  }

  async function goToEvent(row) {
    await orSay(details.at(row).then((event) => event && goTo({ at: event.time_ps, row })));
  }

  /** Its panel first: the window that it shows is then drawn once. */
  function openFinding({ panel, to }) {
    places.open(panel);
    goTo(to);
  }

  /** @param {{at?: number | null, row?: number | null, from?: number, to?: number}} place */
  function goTo({ at, row = null, from, to }) {
    if (from !== undefined && to !== undefined) state.actions.showTimes(range(from, to));
    if (at === undefined) return;
    state.actions.choose(at, row);
    const time = state.chosenTime();
    if (time !== null && from === undefined) state.actions.revealTime(time);
  }

  /** A time from the address or from a panel stands for an event: the last one until then. */
  async function findRow() {
    const { at, row } = state.get();
    if (at === null || row !== null) return;
    await orSay(
      details.rowAt(at).then((found) => {
        if (found !== null && state.get().at === at && state.get().row === null) state.setRow(found);
      }),
    );
  }

  async function orSay(promise) {
    try {
      await promise;
    } catch (error) {
      if (error.name !== "AbortError") onError(error);
    }
  }

  function showNextBand(delta) {
    const next = lanes.next(state.get().run, delta, state.get().from);
    if (next) state.actions.showBand(next.key, next.begin, next.end);
  }

  function overlayChanged() {
    state.actions.setScene({ heights: heightsNow(), silences: silencesNow() });
    timeline.refresh();
  }

  function start() {
    timeline.start();
    card.start();
    places.start();
    if (isSmall) findings.load();
    findRow();
    orSay(lanes.load()).then(timeline.refresh);
  }

  const dispose = together(
    state.watch(["at", "row"], findRow),
    params.watch(["overlay"], overlayChanged),
    state.watch(["unit"], places.redraw),
    () => feeds.forEach((feed) => feed.stop()),
    details.stop,
    ...parts.map((part) => part.dispose),
    state.dispose,
  );
  return {
    state,
    start,
    goTo,
    moveEvent,
    showNextBand,
    nextFinding: findings.next,
    over: () => new Map(overNow().map((one, i) => [one.token, `over-${(i % OVER_COLORS) + 1}`])),
    parts: { top, main, dock: [places.beside, card.node] },
    redraw: () => parts.forEach((part) => part.redraw?.()),
    dispose,
  };
}
