// @ts-check
/**
 * The Memory Viewer as a tool of the shell: keeps the module list fed, opens the module that the address names, and
 * puts its workspace on the page.
 */
import {
  createLatest,
  fetchAdvice,
  fetchBuffer,
  fetchHlo,
  fetchMemoryGroupRows,
  fetchMemoryGroups,
  fetchMemoryOverview,
  fetchMemoryView,
} from "../../api.js";
import { createModuleFeed } from "./module_feed.js";
import { createModuleList } from "./views/module_list.js";
import { createMemoryTypes } from "./views/memory_types.js";
import { createWorkspace } from "./workspace.js";
import { capacityOfDevice, profiledDevice } from "../../base/devices.js";
import { remember, remembered } from "../../base/remembered.js";
import { MOUSE, toolKeys } from "./tool_keys.js";
import { findModule, moduleAddress, namedHosts } from "./data/modules.js";
import { errorOfOne, errorSentence, noModules } from "../../shell/messages.js";
import { createStage } from "../../shell/stage.js";
import { unknownModule } from "./views/empty_states.js";

export function mount(shell) {
  const { params, progress } = shell;
  const stage = createStage(shell);
  const { session } = stage;
  const list = createModuleList(params, openModule);
  const types = createMemoryTypes(params);
  const latest = createLatest();
  const feed = createModuleFeed(session, progress, { onReply: showModules, onError: stage.sayError });
  let opened = "";
  let reply = null;
  let capacityOf = null; // what the capacity is remembered by
  let capacityTold = null; // by the profile
  let isOver = false;

  shell.side.append(list.node, types.node);
  const stops = [
    params.watch(["module_name", "host", "memory_space"], openFromAddress),
    params.watch(["capacity"], rememberCapacity),
    shell.keys.add("Memory Viewer", toolKeys({ act: stage.act, list, openModule, compare, follow }), MOUSE),
  ];
  openFromAddress();
  feed.start();

  function openModule(module) {
    params.go({ ...moduleAddress(reply, module), step: null, buffer: null, holder: null, opened: null, zoom: null });
  }

  function compare() {
    shell.openTool("compare");
  }

  function follow() {
    shell.openTool("trend");
  }

  function showModules(now) {
    reply = now;
    list.setModules(now);
    showHosts(now);
    if (now.modules.length === 0) return now.complete && sayNone(now);
    settleModule(now);
  }

  async function sayNone(now) {
    if (!(await shell.goWhereDataIs()) && !isOver) stage.say(noModules(now, shell.openTool));
  }

  /** No module in the address: the largest, once its size is known. XProf's moduleName lacks the program id. */
  function settleModule(now) {
    const wanted = params.get().module_name;
    if (wanted === null) {
      if (now.complete || now.modules.length === 1 || feed.isPatienceOver())
        params.set(moduleAddress(now, list.first()));
      return;
    }
    const found = findModule(now.modules, wanted, params.get().host);
    if (!found) return stage.say(unknownModule(wanted, now, openModule));
    if (found.name !== wanted) params.set({ module_name: found.name });
    else openFromAddress();
    if (!stage.workspace()) types.setSpaces(found.memory_spaces);
  }

  function showHosts(now) {
    const hosts = namedHosts(now).map((host) => ({
      value: host.name,
      label: host.error ? `${host.name} (unreadable)` : host.name,
    }));
    const options = hosts.length > 1 ? [{ value: "", label: "all hosts" }, ...hosts] : hosts;
    const broken = now.hosts.filter((host) => host.error);
    const notes = broken.map((host) => `${host.name || host.file}: ${errorSentence(host.error)}`);
    const host = hosts.length ? params.get().host : null;
    shell.hosts.show(options, host ?? options[0]?.value ?? null, { count: hosts.length, notes });
  }

  async function openFromAddress() {
    const { module_name: module, host, memory_space: space } = params.get();
    if (reply) showHosts(reply);
    if (module === null || !isSettled(module)) return;
    const key = JSON.stringify([module, host, space]);
    if (key === opened) return;
    opened = key;
    const where = { session, module, host, space };
    const ask = (fetch, label) =>
      progress.during(
        label,
        latest.run((signal) => fetch(where, signal)),
      );
    try {
      const view = await ask(fetchMemoryOverview, `reading ${module}`);
      const shown = showView(view, where);
      await shown.start();
      takeCapacity(shown, view);
      if (shown === stage.workspace()) shown.complete(await ask(fetchMemoryView, `reading the buffers of ${module}`));
    } catch (error) {
      if (error.name !== "AbortError") showViewError(error, module);
    }
  }

  /** A name without a program id may stand for one with it: then the list has to come first. */
  function isSettled(module) {
    return module.includes("(") || (reply !== null && reply.modules.some((one) => one.name === module));
  }

  function showView(view, where) {
    types.setSpaces(view.memory_spaces);
    capacityOf = capacityName(view);
    if (capacityOf && params.get().capacity === null) params.set({ capacity: remembered(capacityOf) });
    return stage.open(`${view.module}, ${view.session}`, () =>
      createWorkspace(view, params, requestsOf(view, where), shell.openTool),
    );
  }

  /** Of a device that the profile tells of, once the charts stand; what was asked for or remembered comes first. */
  async function takeCapacity(shown, view) {
    const device = view.memory_space === 0 ? profiledDevice(await shell.contents(), view.host) : null;
    if (!device || shown !== stage.workspace()) return;
    capacityTold = capacityOfDevice(device);
    shown.tellDevice(device);
    if (params.get().capacity === null) params.set({ capacity: capacityTold });
  }

  /** Typed here, for the device that is shown; not what comes with another place, or from the profile. */
  function rememberCapacity({ capacity }, changed) {
    const isTold = capacity !== null && capacity === capacityTold;
    if (capacityOf && changed.length === 1 && !isTold) remember(capacityOf, capacity);
  }

  /** Groups are asked for as the address has it: as early as that is (ask_ahead.js). */
  function requestsOf({ module, host, memory_space: space }, where) {
    return {
      details: (buffer, signal) => fetchBuffer({ session, module, host, space, buffer }, signal),
      hlo: (buffer, signal) => fetchHlo({ session, module, host, space, buffer }, signal),
      groups: (query, signal) => fetchMemoryGroups(where, query, signal),
      groupRows: (query, signal) => fetchMemoryGroupRows(where, query, signal),
      advice: (query, signal) =>
        progress.during(`predicting changes of ${module}`, fetchAdvice({ session, module, host }, query, signal)),
    };
  }

  /** A module that the list does not know gets the list's message; anything else the server's sentence. */
  function showViewError(error, module) {
    if (error.status === 404 && reply && !findModule(reply.modules, module)) return;
    stage.say(errorOfOne(error, "module", reply?.modules.length ?? 0));
  }

  function unmount() {
    isOver = true;
    feed.stop();
    latest.stop();
    stops.forEach((stop) => stop());
    [list, types].forEach((part) => part.dispose());
    stage.clear();
  }

  return { unmount, redraw: stage.redraw };
}

/** A host's devices are of one kind; files without a host may be of any. */
function capacityName({ host, memory_space: space }) {
  return host ? `capacity-${host}-${space}` : null;
}
