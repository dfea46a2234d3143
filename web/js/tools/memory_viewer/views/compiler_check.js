// @ts-check
/**
 * "Check with the compiler": the command that does it, to copy, what it needs, and how far it is once it runs. The
 * server starts no program, and the compiler is where jax is: on the reader's machine. The command tells the server,
 * which is asked here, only while this is open and seen and there may be more. Where files lie is asked for when it is
 * opened.
 */
import { fetchCheck, fetchServer } from "../../../api.js";
import { el, setText } from "../../../base/dom.js";
import { ROOT, STOPPED } from "../../../early.js";
import { code, copyable, paragraph } from "../../../shell/messages.js";
import { checkCommand } from "../data/check_command.js";
import { checkProgress } from "../data/check_progress.js";
import { checkBar, checkTable } from "./check_table.js";

const AGAIN_MS = 2000;
const UNREACHED = "The server does not answer; it is asked again.";
const LASTING = [STOPPED, "not_saved", "unauthorized", "not_found"]; // what asking again does not change

export function createCompilerCheck() {
  const command = el("div", {});
  const status = el("p", { class: "check-status", role: "status" });
  const bar = el("div", { class: "check-bar" });
  const table = el("div", {});
  const result = el("div", { class: "check-result", hidden: true }, status, bar, table);
  const node = el(
    "details",
    { class: "compiler-check" },
    el("summary", {}, "Check with the compiler"),
    command,
    result,
  );
  let server; // not asked for yet
  let told = null;
  let progress = null; // of what the server was told; null: not known
  let mode = "auto";
  let timer = 0;
  let asking = 0; // the latest question; an older one's answer is of no use
  node.addEventListener("toggle", open);
  document.addEventListener("visibilitychange", lookIfSeen);
  window.addEventListener("focus", lookIfSeen);

  async function open() {
    if (!node.open) return;
    lookIfSeen();
    if (server !== undefined) return;
    server = await askServer();
    showCommand();
  }

  function showCommand() {
    if (told === null || server === undefined) return;
    const page = server ? new URL(ROOT, location.origin).href : null;
    const text = checkCommand(server?.logdir || null, told.advice, told.asked, page);
    command.replaceChildren(copyable(text, "copy the command"), ...needs(server));
  }

  /** @param {any} advice @param {Record<string, string | number | null>} asked */
  function show(advice, asked) {
    const isOther = told?.advice.session !== advice.session || told?.advice.module !== advice.module;
    told = { advice, asked };
    showCommand();
    if (isOther) look();
  }

  // --- How far it is ---

  function lookIfSeen() {
    if (node.open && node.isConnected && document.visibilityState === "visible") look();
  }

  async function look() {
    clearTimeout(timer);
    if (told === null) return;
    asking += 1;
    const mine = asking;
    const reply = await fetchCheck(told.advice).catch((error) => error);
    if (mine !== asking) return;
    if (reply instanceof Error) return isNotTold(reply);
    const before = progress;
    progress = checkProgress(reply.check, Date.now());
    if (before === null && progress.state !== "none") node.open = true; // it runs, or there is something to see
    showResult();
    if (progress.goesOn) lookAgain();
  }

  /** A server that is away, or has no room just now, may answer later; a saved page has none. */
  function isNotTold(error) {
    if (LASTING.includes(error.code)) return;
    setText(status, error.code === "unreachable" ? UNREACHED : `${error.message} It is asked again.`);
    lookAgain();
  }

  function lookAgain() {
    clearTimeout(timer);
    timer = window.setTimeout(lookIfSeen, AGAIN_MS);
  }

  function showResult() {
    if (progress === null) return;
    result.hidden = false;
    status.className = `check-status check-${progress.state}`;
    setText(status, progress.headline);
    const isShown = JSON.stringify([{ ...progress, headline: "" }, mode]);
    if (table.dataset.shown === isShown) return; // what the reader has selected stays
    table.dataset.shown = isShown;
    bar.replaceChildren(...[checkBar(progress)].filter((one) => one !== null));
    table.replaceChildren(...checkTable(progress, mode));
  }

  /** @param {string} unit */
  function redraw(unit) {
    mode = unit;
    showResult();
  }

  function dispose() {
    clearTimeout(timer);
    asking += 1;
    document.removeEventListener("visibilitychange", lookIfSeen);
    window.removeEventListener("focus", lookIfSeen);
  }

  return { node, show, redraw, wake: lookIfSeen, dispose };
}

/** Null: a saved page knows no server. */
async function askServer() {
  try {
    return await fetchServer();
  } catch {
    return null;
  }
}

function needs(server) {
  return [
    paragraph(
      "It compiles what can be changed in the program itself (donation, parameters in bfloat16, limits of memory) " +
        "and shows predicted beside compiled. ",
      code("--check=flags"),
      " tries XLA's flags instead.",
    ),
    paragraph(
      "It needs hbmview's Python package with ",
      code("pip install 'jax[tpu]'"),
      ", no chip, and the program as it was before optimizations: a dump of ",
      code('XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto"'),
      ", which ",
      code("--hlo=DIR"),
      " names where the profile is not that dump.",
    ),
    server?.shared
      ? paragraph(
          "This page may want its token of the command too: the first line of ",
          code("--token_file=FILE"),
          ", or ",
          code("HBMVIEW_TOKEN"),
          ".",
        )
      : "",
  ];
}
