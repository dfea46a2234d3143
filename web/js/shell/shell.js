// @ts-check
/**
 * The frame around the tools: sessions, tools and hosts at the left, a bar at the top, the tool in the middle.
 *
 * A session that is one device memory profile opens in that tool alone; any other one in all of them.
 *
 * A tool (tools.js) is loaded when it is opened; its mount(context) gives back {redraw(), unmount()}. One with
 * `anywhere` needs no session: it opens where there is none, stays mounted from one to the next, and watches "run"
 * itself. The context has
 *     params      the page's state (shell/params.js); the tool watches its keys
 *     side        the element of the side panel that the tool fills
 *     show({title, top, main, dock})   what stands in the bar, in the middle, and below; `main` may be several
 *     isGone(error)   a promise: the session is not there (any more), and the shell says so
 *     hosts       the host picker, filled by the tool: only it knows which hosts it can show
 *     progress, keys
 *     openTool(id)   the same session in another tool
 *     sessions()  a promise of the sessions reply
 *     contents()  a promise of what the session has to show (session_contents.js), for after the charts
 *     goWhereDataIs()  a promise: the address named no tool, and one that has data opens instead
 *     saved       what a saved page says of itself, null where a server answers
 *     savesToo(give)   what "Save" must tell the server of this tool, beside the address: an object, or a promise
 */
import { fetchModules, fetchServer, fetchSession, fetchSessions, fetchWork, stopAll, ApiError } from "../api.js";
import { waitedFor } from "../early.js";
import { findTool } from "../tools.js";
import { notePageWheel } from "../base/wheel.js";
import { button, el } from "../base/dom.js";
import { createCopyLink } from "./copy_link.js";
import { createChangeNotice } from "./change_notice.js";
import { createDock } from "./dock.js";
import { keepFocus } from "./focus_keeper.js";
import { createHelp } from "./help.js";
import { keepScroll } from "./keep_scroll.js";
import { createKeys } from "./keys.js";
import { newsOf } from "./list_news.js";
import { listen } from "./listening.js";
import { createParams } from "./params.js";
import { createPicker } from "./picker.js";
import { createSave, savedNote } from "./save_page.js";
import { createProgress } from "./progress.js";
import { createSessionContents, toolWithData, whatIsMissing } from "./session_contents.js";
import { createSessionFacts } from "./session_facts.js";
import { createSessionPicker } from "./session_picker.js";
import { createThemeSwitch } from "./theme.js";
import { createUnitSwitch } from "./unit_switch.js";
import { nameClipped } from "./clipped_text.js";
import { capacityOfDevice, profiledDevice } from "../base/devices.js";
import { parseQuery } from "../base/url_state.js";
import { AGAIN, errorMessage, linkList, noSessions, noTool, pendingSession, unknownSession } from "./messages.js";
import { toolLink } from "./other_tool.js";

const KEPT = ["tag", "panel", "filter", "sort", "unit", "capacity"]; // from one session to the next
const LOOK_AGAIN_MS = 2000;
const DEVICE_MEMORY = "device_memory"; // its tool, and where the sessions reply lists such sessions
const VERSION_DELAY_MS = 1000; // the charts come first
const CONTENTS_DELAY_MS = 300; // so do they here
const LISTEN_DELAY_MS = 1000;

/** @param {any} saved what a saved page says of itself (saved/answers.js); null where a server answers */
export function createShell(tools, saved = null) {
  const params = createParams();
  const keys = createKeys();
  const help = createHelp(keys);
  const page = pageElements();
  const dock = createDock(page.dock, page.main);
  const progress = createProgress(document.body, saved ? null : { look: fetchWork, waitedFor, stop: stopAll });
  const contents = createSessionContents((session) => fetchSession(session));
  const sessionPicker = createSessionPicker(
    (run) => openSession(run || null),
    createSessionFacts(
      (session) => contents.look(session),
      (session, signal) => fetchModules(session, undefined, signal),
    ),
    button("↻", () => (contents.forget(), loadSessions()), {
      class: "quiet",
      title: "Look again",
      "aria-label": "look again for sessions",
    }),
  );
  const toolPicker = createPicker("Tools", openTool);
  const hosts = createPicker("Hosts", (host) => params.go({ host: host || null }));
  const theme = createThemeSwitch(() => mounted?.redraw());
  const changed = createChangeNotice(document.body, reload);
  let sessions = Promise.resolve(null);
  /** @type {import("./list_news.js").List | null} */
  let listed = null; // what the list of sessions shows
  let deviceMemorySessions = [];
  let mounted = null;
  let mountedFor = "";
  let saves = nothingMore;
  let saysWhy = false; // a message of the shell's own stands in the tool's place
  let replaced = 0; // how often the tool's place was given to something else
  let waitTimer = 0;
  let contentsTimer = 0;
  let opening = 0; // how often a session was picked

  function start() {
    page.sidePickers.append(sessionPicker.node, toolPicker.node, hosts.node);
    page.actions.append(
      createUnitSwitch(params),
      ...(saved ? [savedNote(saved)] : [createSave(params, progress, () => saves()).node, createCopyLink(params).node]),
      theme.node,
      button("?", help.open, { class: "quiet", "aria-label": "keys", title: "Keys (?)", id: "help" }),
    );
    keys.add("Everywhere", [
      { keys: ["i"], label: "details: all, or one line", run: dock.toggle },
      { keys: ["r"], label: "reload a session that has changed", run: changed.take },
      { keys: ["?"], label: "this list", run: help.open },
    ]);
    window.addEventListener(
      "wheel",
      (event) => {
        if (!event.defaultPrevented) notePageWheel(event.timeStamp);
      },
      { passive: true },
    );
    keepFocus(page.main);
    page.main.addEventListener(AGAIN, tryAgain);
    document.addEventListener("pointerover", nameClipped, { passive: true });
    params.watch(["run", "tag"], show);
    loadSessions();
    if (saved) page.version.textContent = saved.version;
    else {
      window.setTimeout(showVersion, VERSION_DELAY_MS);
      window.setTimeout(() => listen(hear), LISTEN_DELAY_MS);
    }
    show();
  }

  async function showVersion() {
    const server = await fetchServer().catch(() => null);
    if (server) page.version.textContent = server.version;
  }

  async function loadSessions() {
    sessions = progress.during("looking for sessions", fetchSessions());
    try {
      showSessions(await sessions);
    } catch (error) {
      fail(error);
    }
  }

  /** There may be something new. A tool stays as it is; a message may have waited for just this. */
  async function hear(version) {
    if (listed?.version === version) return;
    const reply = await fetchSessions().catch(() => null);
    if (reply === null || reply.version === listed?.version) return;
    sessions = Promise.resolve(reply);
    if (!saysWhy) return listSessions(reply);
    mountedFor = "";
    showSessions(reply);
  }

  function takeNews(reply) {
    const news = newsOf(listed, reply);
    const { run, run_b: other } = params.get();
    const here = [run, other].filter((name) => name !== null);
    listed = reply;
    contents.forget(news.changed);
    sessionPicker.tell(news, here);
    const gone = here.find((name) => news.removed.includes(name));
    const isNew = here.some((name) => news.changed.includes(name));
    if (!mounted) return;
    if (gone) changed.show(`${gone} is no longer there. What you see was read before.`, false);
    else if (isNew) changed.show("This session has changed since it was read.", true);
  }

  /** The tool that is open, made anew of what there is now; the address says what it shows. */
  function reload() {
    keepScroll(page.main);
    mountedFor = "";
    show();
  }

  function listSessions(reply) {
    const profiles = reply.sessions.map((session) => session.name);
    deviceMemorySessions = (reply[DEVICE_MEMORY] ?? []).map((session) => session.name);
    takeNews(reply);
    const names = [...profiles, ...deviceMemorySessions];
    showTools();
    const pending = (reply.pending ?? []).map((one) => one.path.split("/").at(-1));
    const options = [
      ...(isAnywhere() ? [{ value: "", label: "any session" }] : []),
      ...reply.sessions.map(({ name, modified_s: modified }) => ({ value: name, label: name, modified })),
      ...(reply[DEVICE_MEMORY] ?? []).map(({ name, modified_s: modified }) => ({
        value: name,
        label: `${name} (device memory)`,
        modified,
      })),
      ...pending.map((name) => ({ value: name, label: `${name} (not complete)` })),
    ];
    sessionPicker.show(options, params.get().run, { count: names.length, notes: sessionNotes(reply) });
    return { names, pending };
  }

  function showSessions(reply) {
    const { names, pending } = listSessions(reply);
    clearTimeout(waitTimer);
    if (isAnywhere()) return;
    if (pending.includes(params.get().run) && !names.includes(params.get().run)) return awaitSession(reply);
    if (names.length === 0 && params.get().run === null) return replaceTool(noSessions(reply, openTool));
    if (params.get().run === null) return params.set({ run: names[0] });
    if (!names.includes(params.get().run))
      replaceTool(
        unknownSession(
          params.get().run,
          reply,
          linkList(names, (name) => name, openSession),
        ),
      );
    else if (mountKey() !== mountedFor) show(); // only now it is known which tools the session has
  }

  async function mountTool(tool, key) {
    mountedFor = key;
    replaceTool(tool ? null : noTool(params.get().tag, toolLink(tools[0].id, tools[0].name, openTool)));
    const mine = replaced;
    const mount = await tool?.load().catch(fail);
    if (mount && mine === replaced) mounted = mount(context());
  }

  function isAnywhere() {
    const { run, tag } = params.get();
    return toolFor(tag, run)?.anywhere === true;
  }

  /** Whatever failed is asked for anew. */
  function tryAgain() {
    mountedFor = "";
    contents.forget();
    loadSessions();
    show();
  }

  /** Back from a tool that needs no session to one that does, where there is none. */
  async function leaveTool() {
    if (!mounted) return;
    mountedFor = "";
    replaceTool(null);
    const reply = await sessions.catch(() => null);
    if (reply) showSessions(reply);
  }

  /** A session that is still being written opens by itself once it is complete. */
  function awaitSession(reply) {
    replaceTool(pendingSession(params.get().run, reply));
    mountedFor = "";
    waitTimer = window.setTimeout(async () => {
      sessions = fetchSessions();
      const now = await sessions.catch(() => reply);
      if (now.sessions.some((session) => session.name === params.get().run)) show();
      else showSessions(now);
    }, LOOK_AGAIN_MS);
  }

  function sessionNotes(reply) {
    const notes = reply.sample ? ["A sample inside hbmview. For your own profiles: hbmview --logdir=DIR"] : [];
    for (const { path, reason } of reply.pending ?? [])
      notes.push(`not complete: ${path.split("/").at(-1)}, ${reason}`);
    const left = reply.left_out?.length ?? 0;
    if (left) notes.push(`left out: ${reply.left_out.map((one) => `${one.path}: ${one.reason}`).join("; ")}`);
    return notes;
  }

  /** In the tool that is open, unless that has nothing to show there and another has. */
  async function openSession(run) {
    const mine = ++opening;
    const { run: left, capacity } = params.get();
    const both = Promise.all([run, capacity === null ? null : left].map((one) => (one ? contents.look(one) : null)));
    const [told, before] = run ? await progress.during(`looking into ${run}`, both) : await both;
    if (mine !== opening) return;
    const kept = Object.fromEntries(KEPT.map((key) => [key, params.get()[key]]));
    if (kept.capacity === capacityTold(before)) kept.capacity = null;
    const tool = toolFor(kept.tag, run);
    if (tool && !tool.anywhere && run) kept.tag = toolWithData(told, tool.id);
    params.go({ ...parseQuery(""), ...kept, run });
  }

  /** The capacity that the profile of a session tells, as the address has it: no other session's. */
  function capacityTold(told) {
    const device = told && profiledDevice(told, params.get().host);
    return device ? capacityOfDevice(device) : null;
  }

  /** An address that names no tool opens one that has something to show. @returns {Promise<boolean>} whether it did */
  async function goWhereDataIs() {
    const { run, tag } = params.get();
    if (tag !== null || run === null) return false;
    const first = toolsOf(run)[0].id;
    const tool = toolWithData(await contents.look(run), first);
    const isMine = params.get().run === run && params.get().tag === null;
    if (isMine && tool !== first) params.set({ tag: tool });
    return isMine && tool !== first;
  }

  /** Which tools have data is told once the charts stand. */
  function lookInto(run) {
    clearTimeout(contentsTimer);
    contentsTimer = window.setTimeout(async () => {
      await contents.look(run);
      if (params.get().run === run) showTools();
    }, CONTENTS_DELAY_MS);
  }

  /** What one tool was asked (a search, an order) means nothing to another; places in the session stay. */
  function openTool(tag) {
    params.go({ tag, filter: null, sort: null, opened: null });
  }

  /** Mounts the tool of the present session; a session or a tool that changed means a fresh mount. */
  async function show() {
    const { run, tag } = params.get();
    const tool = toolFor(tag, run);
    showTools();
    if (run === null && !tool?.anywhere) return leaveTool();
    const wanted = mountKey();
    if (wanted === mountedFor && !tool?.anywhere) return;
    if (wanted !== mountedFor) mountTool(tool, wanted);
    if (run !== null) lookInto(run);
    const reply = await sessions.catch(() => null);
    if (reply && params.get().run === run) showSessions(reply);
  }

  function toolFor(tag, run) {
    const mine = toolsOf(run);
    const named = findTool(mine, tag);
    const isOnlyOne = mine.filter((tool) => !tool.anywhere).length === 1;
    return named ?? (tag === null || isOnlyOne ? mine[0] : null);
  }

  function toolsOf(run) {
    if (!deviceMemorySessions.includes(run)) return tools;
    return tools.filter((tool) => tool.anywhere || tool.id === DEVICE_MEMORY);
  }

  function showTools() {
    const { run, tag } = params.get();
    const told = run === null ? null : contents.known(run);
    toolPicker.show(
      toolsOf(run).map(({ id, name }) => ({ value: id, label: name, why: whatIsMissing(told, id) })),
      toolFor(tag, run)?.id ?? tag,
    );
  }

  function mountKey() {
    const { run, tag } = params.get();
    const tool = toolFor(tag, run);
    return tool?.anywhere ? tool.id : `${tool?.id} ${run}`;
  }

  function replaceTool(content) {
    mounted?.unmount();
    mounted = null;
    saves = nothingMore;
    saysWhy = content !== null;
    changed.hide();
    replaced += 1;
    for (const part of [page.sideTool, page.top, page.main, dock.body]) part.replaceChildren();
    document.title = "hbmview";
    if (content) page.main.append(content);
  }

  function fail(error, stillWorks) {
    if (error.name === "AbortError") return;
    if (!(error instanceof ApiError)) console.error(error);
    page.main.replaceChildren(errorMessage(error, stillWorks));
    hosts.show([], null);
    dock.body.replaceChildren();
  }

  function context() {
    return {
      params,
      keys,
      progress,
      hosts,
      openTool,
      goWhereDataIs,
      contents: () => contents.look(params.get().run),
      sessions: () => sessions,
      side: page.sideTool,
      show: showParts,
      isGone,
      saved,
      savesToo: (give) => (saves = give),
    };
  }

  function showParts({ title, top = [], main, dock: card = [] }) {
    document.title = `${title} | hbmview`;
    page.top.replaceChildren(...[top].flat());
    page.main.replaceChildren(...[main].flat());
    dock.body.replaceChildren(...[card].flat());
  }

  async function isGone(error) {
    const reply = await sessions.catch(() => null);
    const known = reply ? [...reply.sessions, ...(reply[DEVICE_MEMORY] ?? [])] : [];
    return error.status === 404 && reply !== null && !known.some((session) => session.name === params.get().run);
  }

  return { start };
}

/** @returns {object | Promise<object>} */
const nothingMore = () => ({});

function pageElements() {
  const find = (id) => /** @type {HTMLElement} */ (document.getElementById(id));
  return {
    sidePickers: find("side-pickers"),
    sideTool: find("side-tool"),
    top: find("top"),
    actions: find("actions"),
    version: find("version"),
    main: find("main"),
    dock: find("dock"),
  };
}
