// @ts-check
/**
 * Compare as a tool of the shell: finds the two programs that the address means, asks what changed between them, and
 * puts the comparison on the page. The session of the shell is that of the program before.
 */
import { createLatest, fetchAdvice, fetchDiff, fetchMemoryOverview, fetchModules } from "../../api.js";
import { errorMessage } from "../../shell/messages.js";
import { createStage } from "../../shell/stage.js";
import { chooseModule, otherSession, swapped } from "./data/pair.js";
import { createChoices } from "./views/choices.js";
import { noProgram } from "./views/empty_states.js";
import { isWay } from "./views/way_switch.js";
import { createWorkspace } from "./workspace.js";

const ROWS_ASKED = 2000; // of groups and of buffers; what is left out is said
const MOUSE = [
  ["click a group", "keep the buffers below to its own; click it again or press Esc to let go"],
  ["hover the curves", "what is live in both at the same part of the program"],
];
const WATCHED = ["module_name", "host", "memory_space", "run_b", "module_b", "host_b", "by", "frameworks"];

export function mount(shell) {
  const { params, progress } = shell;
  const stage = createStage(shell);
  const { session } = stage;
  const latest = createLatest();
  const choices = createChoices({ pick: (patch) => params.go(patch), swap });
  const known = new Map(); // modules by session
  let pair = null;
  let opened = "";

  shell.side.append(choices.node);
  shell.hosts.show([], null);
  const stops = [params.watch(WATCHED, openFromAddress), shell.keys.add("Compare", keys(), MOUSE)];
  openFromAddress();

  function swap() {
    if (pair) params.go({ ...swapped(pair) });
  }

  async function modulesOf(name, signal) {
    if (!known.has(name)) known.set(name, (await fetchModules(name, undefined, signal)).modules);
    return known.get(name);
  }

  /** Both programs, as far as they are there. */
  async function findPair(now, signal) {
    const reply = await shell.sessions();
    const names = (reply?.sessions ?? []).map(({ name }) => name);
    const other = now.run_b ?? otherSession(names, session);
    const [before, after] = await Promise.all([modulesOf(session, signal), modulesOf(other, signal)]);
    const a = chooseModule(before, now.module_name);
    const b = chooseModule(after, now.module_b, a?.name ?? null);
    choices.showBefore(before, a?.name ?? now.module_name);
    choices.showSessions(names, other);
    choices.showAfter(after, b?.name ?? now.module_b);
    return {
      a: { session, module: a?.name ?? null, host: now.host, space: now.memory_space },
      b: { session: other, module: b?.name ?? null, host: now.host_b, space: now.memory_space },
    };
  }

  async function fetchAll(now, signal) {
    const found = await findPair(now, signal);
    const missing = [found.a, found.b].find(({ module }) => module === null);
    if (missing) return { found, missing };
    const query = { by: isWay(now.by) ? now.by : "source", frameworks: now.frameworks, top: ROWS_ASKED };
    const [reply, a, b] = await Promise.all([
      fetchDiff(found, query, signal),
      fetchMemoryOverview(found.a, signal),
      fetchMemoryOverview(found.b, signal),
    ]);
    return { found, reply, overviews: { a, b } };
  }

  async function openFromAddress() {
    const now = params.get();
    const key = JSON.stringify(WATCHED.map((word) => now[word]));
    if (key === opened || now.run !== session) return;
    opened = key;
    try {
      const told = await progress.during(
        "comparing",
        latest.run((signal) => fetchAll(now, signal)),
      );
      pair = told.found;
      if (told.missing) {
        const named = told.missing === told.found.a ? now.module_name : now.module_b;
        return stage.say(noProgram(told.missing.session, named));
      }
      const scrolled = document.getElementById("main")?.scrollTop ?? 0;
      const title = `${told.reply.a.session} → ${told.reply.b.session}, compared`;
      stage.open(title, () => createWorkspace(told, params, adviceFor(told.found.a))).start();
      document.getElementById("main")?.scrollTo(0, scrolled);
    } catch (error) {
      if (error.name !== "AbortError" && !(await shell.isGone(error)))
        stage.say(errorMessage(error, "Other programs may still be readable: choose one at the left."));
    }
  }

  const adviceFor = (before) => (signal) =>
    progress.during(`predicting changes of ${before.module}`, fetchAdvice(before, {}, signal));

  function keys() {
    return [
      { keys: ["/"], label: "search buffers", run: stage.act((now) => now.focusSearch()) },
      { keys: ["x"], label: "swap before and after", run: swap },
      {
        keys: ["Escape"],
        shown: "Esc",
        label: "let go of the pinned group, then of the search",
        run: stage.act((now) => now.state.actions.letGo()),
      },
    ];
  }

  function unmount() {
    latest.stop();
    stops.forEach((stop) => stop());
    stage.clear();
  }

  return { unmount, redraw: stage.redraw };
}
