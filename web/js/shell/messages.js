// @ts-check
// What the page says when there is nothing to draw: what was looked for, where, and how to make it appear.
import { button, el } from "../base/dom.js";
import { copyButton } from "../base/clipboard.js";
import { groupDigits } from "../base/format.js";
import { toolLink } from "./other_tool.js";

const SNIPPET = `import jax

jax.profiler.start_trace("/tmp/xprof")   # the log directory
train_step(state, batch)                 # at least one step of the program
jax.profiler.stop_trace()`;

export function message(title, ...parts) {
  return el("section", { class: "message" }, el("h2", {}, title), ...parts);
}

export function paragraph(...parts) {
  return el("p", {}, ...parts);
}

export function code(text) {
  return el("code", {}, text);
}

export function copyable(text, title) {
  return el(
    "div",
    { class: "snippet" },
    el("pre", {}, text),
    copyButton(() => text, { title }),
  );
}

/** What a message's "Try again" says to the shell, on its way up. */
export const AGAIN = "hbmview-again";

/** Faults that may have passed: of a disk, a bucket or the way there, not of what a file holds. */
const PASSING = ["unreadable", "unreachable"];

function tryAgain() {
  const ask = button("Try again", () => ask.dispatchEvent(new CustomEvent(AGAIN, { bubbles: true })));
  return paragraph(ask);
}

const LINKS_SHOWN = 12;

/** What is there instead, to open. @param {any[]} things @param {(thing: any) => string} nameOf */
export function linkList(things, nameOf, open) {
  const link = (thing) => button(nameOf(thing), () => open(thing), { class: "link" });
  const items = things.slice(0, LINKS_SHOWN).map((thing) => el("li", {}, link(thing)));
  const others = things.length - items.length;
  if (others > 0) items.push(el("li", {}, `and ${others} more at the left`));
  return el("ul", {}, ...items);
}

export function noSessions(reply, openTool) {
  return message(
    "No profile data was found.",
    paragraph(
      "Looked for ",
      code("plugins/profile/<session>/*.xplane.pb"),
      " under ",
      code(reply.logdir ?? "the built-in sample"),
      ".",
    ),
    ...notShown(reply),
    paragraph(
      "Only an error message at hand? ",
      toolLink("out_of_memory", "Out of memory", openTool),
      " explains it without a profile.",
    ),
    howToProfile(),
    howToPoint(),
  );
}

export function unknownSession(name, reply, links) {
  const known = reply.sessions.length === 0 ? [howToPoint()] : [paragraph("Sessions that are there:"), links];
  return message(
    `There is no session "${name}".`,
    paragraph(
      "The address asks for it, but it is not under ",
      code(reply.logdir ?? "the built-in sample"),
      ". It may have been removed, renamed, or belong to another log directory.",
    ),
    ...known,
    ...notShown(reply),
  );
}

export function pendingSession(name, reply) {
  const reason = reply.pending.find((one) => one.path.endsWith(`/${name}`))?.reason ?? "";
  return message(
    `The session "${name}" is not complete yet.`,
    paragraph(code(reason)),
    paragraph("It opens here by itself once the profiler has written it. The other sessions are at the left."),
  );
}

export function noModules(reply, openTool) {
  const files = reply.hosts.map((host) => host.file).filter(Boolean);
  if (reply.hosts.length > 0 && reply.hosts.every((host) => host.error)) return brokenSession(reply);
  if (files.length === 0) return emptyFolder(reply);
  if (reply.hosts.every((host) => host.size_bytes === 0)) return emptyFiles(files);
  return message(
    "This session holds no HLO module.",
    paragraph(
      `Looked in ${files.length === 1 ? "its one file" : `its ${files.length} files`}: `,
      ...files.flatMap((file, i) => (i ? [", ", code(file)] : [code(file)])),
      ". There is no program in a ",
      code("/host:metadata"),
      " plane.",
    ),
    paragraph(
      "The Memory Viewer shows XLA programs. A TensorFlow run without XLA has none; neither has a profile taken " +
        "while no program was compiled or run on the accelerator, or with ",
      code("enable_hlo_proto"),
      " off.",
    ),
    ...hostErrors(reply),
    paragraph(
      "What the allocators of this session did, in time: ",
      toolLink("memory_profile", "Memory Profile", openTool),
      ".",
    ),
    howToProfile(),
  );
}

export function noTool(tag, link) {
  return message(`hbmview has no tool "${tag}".`, paragraph("The Memory Viewer works on this session: ", link, "."));
}

/** A folder of other files, or of none. */
function emptyFolder({ session }) {
  return message(
    "There is no profile in this session's folder.",
    paragraph(
      "Looked in ",
      code(session),
      " for ",
      code("*.xplane.pb"),
      ", ",
      code("*.hlo_proto.pb"),
      " and ",
      code("*.hlo.pb"),
      ", each also with ",
      code(".gz"),
      ". A profile under another name is not seen: give it its own name again, as the profiler wrote it.",
    ),
    howToProfile(),
  );
}

/** The profiler made the files and wrote nothing. */
function emptyFiles(files) {
  return message(
    files.length === 1 ? "This session's one file is empty." : `All ${files.length} files of this session are empty.`,
    paragraph(...files.flatMap((file, i) => (i ? [", ", code(file)] : [code(file)])), ": 0 bytes."),
    paragraph("The run ended before its profiler wrote anything, or the disk was full. Others are at the left."),
    howToProfile(),
  );
}

/** Nothing of it can be read: the reason first, and nothing on programs that may well be there. */
function brokenSession(reply) {
  const count = reply.hosts.length;
  return message(
    count === 1 ? "This session's one file cannot be read." : `None of this session's ${count} files can be read.`,
    ...hostErrors(reply),
    paragraph("A profile that was cut off while it was copied is the usual cause. Other sessions are at the left."),
  );
}

/** Below a heading of its own. */
export function headed(heading, ...parts) {
  return el("div", {}, el("h3", {}, heading), ...parts);
}

function howToProfile() {
  return headed("To take a profile with JAX", copyable(SNIPPET, "copy the program"));
}

function howToPoint() {
  return headed(
    "To show it",
    paragraph(
      "Point ",
      code("--logdir"),
      " at the folder that was given to the profiler, at the ",
      code("plugins/profile"),
      " folder in it, at one session, or at a single file:",
    ),
    copyable("hbmview --logdir=/tmp/xprof", "copy the command"),
  );
}

function notShown({ pending = [], left_out: leftOut = [] }) {
  return [...listOf("Not complete yet", pending), ...listOf("Left out", leftOut)];
}

function listOf(title, entries) {
  if (entries.length === 0) return [];
  const items = entries.map((entry) => el("li", {}, code(entry.path), ` ${entry.reason}`));
  return [el("h3", {}, title), el("ul", {}, ...items)];
}

function hostErrors({ hosts }) {
  return hosts
    .filter((host) => host.error)
    .map((host) =>
      el("p", { class: "error-line" }, `Host ${host.name || host.file} cannot be read: `, errorSentence(host.error)),
    );
}

/** The server's sentence with the file and the place in it. */
export function errorSentence(error) {
  const place = error.file
    ? ` (${error.file}${Number.isFinite(error.offset) ? `, byte ${groupDigits(error.offset)}` : ""})`
    : "";
  return `${error.message}${place}`;
}

/** The same as a line in the place of what could not be had. */
export function errorLine(error) {
  return el("p", { class: "error-line" }, errorSentence(error));
}

export function errorMessage(error, stillWorks) {
  if (error.status === 403) return needsToken(error);
  if (error.code === "stopped") return stoppedByReader(error, stillWorks);
  return message(
    titleOf(error),
    errorLine(error),
    error.code
      ? paragraph("Code ", code(error.code), error.path ? " from " : "", error.path ? code(error.path) : "")
      : null,
    PASSING.includes(error.code) ? tryAgain() : null,
    stillWorks ? paragraph(stillWorks) : null,
  );
}

/** One of several things in a session: the others are not affected. */
export function errorOfOne(error, noun, count) {
  const others = count > 1 ? `The other ${noun}s of this session` : "Other sessions";
  return errorMessage(error, `${others} still work: choose one at the left.`);
}

export function errorOfSession(error) {
  return errorMessage(error, "Other sessions may still be readable: choose one at the left.");
}

function titleOf(error) {
  if (error.status === 404) return "Not found";
  if (error.status === 0) return "No answer";
  return "This could not be read";
}

/** No fault: what was asked for. */
function stoppedByReader(error, stillWorks) {
  return message(
    "Stopped",
    paragraph(errorSentence(error)),
    tryAgain(),
    stillWorks ? paragraph(stillWorks) : null,
  );
}

function needsToken(error) {
  return message(
    "This link needs its token.",
    paragraph(
      "The server is open to the team and lets in only who has its token. " +
        "Open the address that hbmview printed when it started; it ends in ",
      code("?token=…"),
      ".",
    ),
    errorLine(error),
  );
}
