// @ts-check
/**
 * "Over sessions" as a tool of the shell: follows one program, or memory, through all sessions of the log directory.
 * The server tells what it knows within half a second; this asks again until it knows all.
 */
import { createLatest, fetchTrend } from "../../api.js";
import { errorMessage, message, paragraph } from "../../shell/messages.js";
import { createStage } from "../../shell/stage.js";
import { createChoices } from "./views/choices.js";
import { createWorkspace } from "./workspace.js";

const LINES = 6; // as many as have colours (draw/trend_painter.js)
const PATIENCE = 40; // questions in a row that bring nothing new
const WATCHED = ["of", "module_name", "memory_id", "host", "memory_space", "by", "frameworks"];
const MOUSE = [
  ["click a bar or a row", "choose that session: links to it, and to what changed since the one before"],
  ["double click a bar", "compare it with the one before"],
];

export function mount(shell) {
  const { params, progress } = shell;
  const stage = createStage(shell);
  const latest = createLatest();
  const choices = createChoices((patch) => params.go(patch));
  let opened = "";

  shell.side.append(choices.node);
  shell.hosts.show([], null);
  const stops = [params.watch(WATCHED, openFromAddress), shell.keys.add("Over sessions", keys(), MOUSE)];
  openFromAddress();

  function queryOf(now) {
    const tool = now.of ?? "memory_viewer";
    const isProgram = tool === "memory_viewer";
    return {
      tool,
      module: isProgram ? now.module_name : null,
      memory_id: isProgram ? null : now.memory_id,
      memory_space: isProgram ? now.memory_space : null,
      by: isProgram ? now.by : null,
      frameworks: now.frameworks,
      host: now.host,
      top: LINES,
    };
  }

  /** Each reply, until one is complete, or nothing more becomes known. */
  async function follow(query, signal, tell) {
    for (let [known, again] = [-1, 0]; again < PATIENCE; again += 1) {
      const reply = await fetchTrend(query, signal);
      tell(reply);
      if (reply.complete) return;
      if (reply.pending !== known) again = 0;
      known = reply.pending;
    }
  }

  async function openFromAddress() {
    const now = params.get();
    const key = JSON.stringify(WATCHED.map((word) => now[word]));
    if (key === opened || now.run !== stage.session) return;
    opened = key;
    let isFirst = true;
    const tell = (reply) => {
      if (opened !== key) return;
      choices.show(reply);
      if (reply.sessions === 0) return stage.say(nothing(reply.tool));
      const go = (address) => params.go({ sort: null, point: null, ...address });
      const open = () => createWorkspace(reply, params, go);
      if (isFirst) stage.open(`${reply.subject}, over sessions`, open).start();
      else stage.workspace().update(reply);
      isFirst = false;
    };
    try {
      await progress.during(
        "reading the sessions",
        latest.run((signal) => follow(queryOf(now), signal, tell)),
      );
    } catch (error) {
      if (error.name !== "AbortError" && !(await shell.isGone(error)))
        stage.say(errorMessage(error, "Sessions may still be readable one by one: choose another tool at the left."));
    }
  }

  function keys() {
    return [
      { keys: ["Enter"], label: "compare the chosen session with the one before", run: stage.act((now) => now.open()) },
      {
        keys: ["Escape"],
        shown: "Esc",
        label: "let go of the chosen session",
        run: stage.act((now) => now.state.actions.choose(null)),
      },
    ];
  }

  function unmount() {
    opened = "";
    latest.stop();
    stops.forEach((stop) => stop());
    stage.clear();
  }

  return { unmount, redraw: stage.redraw };
}

function nothing(tool) {
  return message(
    tool === "device_memory" ? "There is no device memory profile in the log directory." : "There is no session.",
    paragraph(
      "jax.profiler.save_device_memory_profile writes them; several of one run show what its arrays hold over time.",
    ),
  );
}
