// @ts-check
/**
 * Memory Profile as a tool of the shell: reads the overview of all hosts and memories, host by host where there are
 * many, and puts the workspace of the memory that the address names on the page.
 */
import { fetchMemoryProfile } from "../../api.js";
import { sameRange } from "../../base/range.js";
import { createPicker } from "../../shell/picker.js";
import { createStage } from "../../shell/stage.js";
import {
  chooseMemory,
  highestFirst,
  isStillRead,
  listMoreMemories,
  readCount,
  takeLater,
  toggleOverlay,
  windowOf,
} from "./data/memories.js";
import { createOverview } from "./views/overview_view.js";
import { noMemories, noMemoryOnHost, stillReading, unknownMemory } from "./views/empty_states.js";
import { createWorkspace } from "./workspace.js";
import { MOUSE, toolKeys } from "./tool_keys.js";

const AFRESH = { at: null, y: null }; // another memory: its own peak, its own height; the same window of time

export function mount(shell) {
  const { params, progress } = shell;
  const stage = createStage(shell);
  const { session } = stage;
  const controller = new AbortController();
  const ids = createPicker("Memory ID", (memoryId) =>
    params.go({ memory_id: memoryId, host: chosenHost(), ...AFRESH }),
  );
  let reply = null;
  const memories = [];
  let overview = null;
  let chosen = null;
  let window = { begin: 0, end: 0 }; // that the workspace was made for

  shell.side.append(ids.node);
  const stops = [
    params.watch(["host", "memory_id"], openFromAddress),
    params.watch(["overlay", "unit"], showOverview),
    shell.keys.add("Memory Profile", toolKeys({ act: stage.act, neighbour }), MOUSE),
  ];
  load();

  async function load() {
    try {
      do show(await progress.during(progressText(), fetchMemoryProfile(session, params.get().host, controller.signal)));
      while (!reply.complete && !controller.signal.aborted);
    } catch (error) {
      stage.sayError(error);
    }
  }

  function progressText() {
    const far = reply ? `: ${readCount(reply)} of ${reply.hosts.length} hosts` : "";
    return `reading the memory profile of ${session}${far}`;
  }

  function show(now) {
    if (controller.signal.aborted) return;
    reply = reply ? takeLater(reply, now) : now;
    memories.splice(0, memories.length, ...listMoreMemories(memories, reply));
    overview ??= createOverview(reply, memories, params, { onChoose: open, onOverlay: toggle });
    overview.refresh();
    const isWider = !sameRange(window, windowOf(memories));
    if (reply.complete && stage.workspace() && isWider) chosen = null; // axes for all of it
    openFromAddress();
    showOverview();
  }

  function openFromAddress() {
    if (!reply) return;
    const wanted = params.get();
    const found = memoryOf(wanted);
    showPickers(found);
    if (!found && chosen && isHostOnly(wanted)) return params.set({ memory_id: null });
    if (!found) return showEmpty(whyNone(wanted));
    if (found === chosen && stage.workspace()) return;
    chosen = found;
    window = windowOf(memories);
    const parts = { session, reply, memories, chosen, shell, overviewNode: overview.node, openMemory };
    stage.open(`${chosen.memory.memory_id}, ${session}`, () => createWorkspace(parts)).start();
    showOverview();
  }

  /** Where the address names none: the highest that is known by then. If that may change, the address names it. */
  function memoryOf(wanted) {
    const found = chooseMemory(memories, wanted);
    if (found && wanted.host === null && !reply.complete) params.set({ host: found.host.host });
    return found;
  }

  /** The host was changed to one that has other memory ids. */
  function isHostOnly({ host, memory_id: memoryId }) {
    return memoryId === chosen.memory.memory_id && memories.some((one) => one.host.host === host);
  }

  function whyNone(wanted) {
    if (isStillRead(reply, wanted)) return stillReading(wanted, reply);
    if (memories.length === 0) return noMemories(reply, shell.openTool);
    const host = reply.hosts.find((one) => one.host === wanted.host);
    if (host && host.memories.length === 0) return noMemoryOnHost(host, reply, shell.openTool, openHost);
    return unknownMemory(wanted, reply, openHost);
  }

  function showEmpty(content) {
    chosen = null;
    const hasTable = memories.length > 0;
    stage.say(hasTable ? [content, overview.node] : content);
    if (hasTable) overview.show(null, new Map());
  }

  function showOverview() {
    const workspace = stage.workspace();
    if (workspace) overview.show(chosen, workspace.over());
  }

  function showPickers(found) {
    const named = reply.hosts.find((one) => one.host === params.get().host);
    const host = found?.host ?? named ?? (reply.hosts.length === 1 ? reply.hosts[0] : null);
    const options = highestFirst(reply.hosts).map((one) => ({ value: one.host, label: hostLabel(one) }));
    shell.hosts.show(options, params.get().host ?? host?.host ?? null, { count: reply.hosts.length });
    const own = memories.filter((one) => one.host === host);
    ids.show(
      own.map(({ memory }) => ({ value: memory.memory_id, label: memory.memory_id })),
      found?.memory.memory_id ?? params.get().memory_id,
      { count: own.length },
    );
  }

  function chosenHost() {
    return chosen?.host.host ?? params.get().host;
  }

  function open(row) {
    openMemory(row.host.host, row.memory.memory_id);
  }

  function openMemory(host, memoryId) {
    params.go({ host, memory_id: memoryId, ...AFRESH });
  }

  function openHost(host) {
    params.go({ host, memory_id: null, ...AFRESH });
  }

  function toggle(row) {
    params.set({ overlay: toggleOverlay(params.get().overlay, row.token) });
  }

  function neighbour(delta) {
    const at = memories.indexOf(chosen);
    const next = memories[Math.max(0, Math.min(memories.length - 1, at + delta))];
    if (next && next !== chosen) open(next);
  }

  function unmount() {
    controller.abort();
    stops.forEach((stop) => stop());
    overview?.dispose();
    stage.clear();
  }

  return { unmount, redraw: stage.redraw };
}

function hostLabel({ host, state }) {
  if (state === "error") return `${host} (unreadable)`;
  if (state === "loading") return `${host} (being read)`;
  return state === "events" ? host : `${host} (no memory events)`;
}
