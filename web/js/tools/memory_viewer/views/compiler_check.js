// @ts-check
/**
 * "Check with the compiler": the command that does it, to copy, and what it needs. The server starts no program, and
 * the compiler is where jax is: on the reader's machine. Where files lie is asked for when it is opened.
 */
import { fetchServer } from "../../../api.js";
import { el } from "../../../base/dom.js";
import { code, copyable, paragraph } from "../../../shell/messages.js";
import { checkCommand } from "../data/check_command.js";

export function createCompilerCheck() {
  const content = el("div", {});
  const node = el("details", { class: "compiler-check" }, el("summary", {}, "Check with the compiler"), content);
  let logdir; // not asked for yet
  let told = null;
  node.addEventListener("toggle", open);

  async function open() {
    if (!node.open || logdir) return;
    logdir = await serversLogdir();
    showCommand();
  }

  function showCommand() {
    if (told === null || logdir === undefined) return;
    const command = checkCommand(logdir, told.advice, told.asked);
    content.replaceChildren(copyable(command, "copy the command"), ...needs());
  }

  /** @param {any} advice @param {Record<string, string | number | null>} asked */
  function show(advice, asked) {
    told = { advice, asked };
    showCommand();
  }

  return { node, show };
}

/** Null: a saved page knows no server. */
async function serversLogdir() {
  try {
    return (await fetchServer()).logdir || null;
  } catch {
    return null;
  }
}

function needs() {
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
  ];
}
