// @ts-check
// What the tool says before there is a text, and when there is no message in it.
import { button, el } from "../../../base/dom.js";
import { code, copyable, errorMessage, headed, message, paragraph } from "../../../shell/messages.js";
import { WORDINGS } from "../data/kinds.js";

export function nothingYet(onExample) {
  return message(
    "What ran out of memory, and what to change?",
    paragraph(
      "Paste the error of an XLA program (JAX, PyTorch/XLA, TensorFlow) or drop its log, up to 16 MiB: the messages " +
        "are found among everything else, wrapped or cut off, once per host or a hundred times. ",
      button("See it on an example", onExample, { class: "link" }),
      ".",
    ),
    paragraph(
      "Where one of the sessions here holds the program that failed, the message is joined to its buffers: which " +
        "ones, from which line of your code, and how many bytes a change would save.",
    ),
    wordings("The messages it knows"),
    inTerminal(),
  );
}

export function notFound(source) {
  return message(
    "No out-of-memory message found.",
    paragraph(
      "Looked in ",
      code(source?.name ?? "the text"),
      " for each of the messages below, also wrapped, indented, coloured or behind a log's prefix.",
    ),
    paragraph(
      "Often the message stands further up than the end of the log, or in the log of another host. ",
      "An error of the Linux kernel (",
      code("oom-killer"),
      ", ",
      code("Killed"),
      ") is about the host's memory, not the accelerator's.",
    ),
    wordings("What was looked for"),
  );
}

export function failed(error) {
  return errorMessage(error, "The text is still here: send it again, or try the example.");
}

function wordings(title) {
  const rows = WORDINGS.flatMap(({ words, means }) => [el("dt", {}, el("code", {}, words)), el("dd", {}, means)]);
  return headed(title, el("dl", { class: "oom-wordings" }, ...rows));
}

function inTerminal() {
  const command = "hbmview explain train.log --logdir=/tmp/xprof";
  return headed("The same in a terminal", copyable(command, "copy the command"));
}
