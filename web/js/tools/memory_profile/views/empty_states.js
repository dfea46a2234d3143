// @ts-check
// What stands in place of the timeline when there is none: the server's reason and advice, and where to go on.
import { button, el } from "../../../base/dom.js";
import { copyable, errorLine, headed, message, paragraph } from "../../../shell/messages.js";
import { toolLink } from "../../../shell/other_tool.js";
import { listMemories, readCount } from "../data/memories.js";

const SNIPPET = `import jax

options = jax.profiler.ProfileOptions()
options.host_tracer_level = 2            # memory events need 2 or more
jax.profiler.start_trace("/tmp/xprof", profiler_options=options)
train_step(state, batch)                 # at least one step, on a GPU or TPU
jax.profiler.stop_trace()`;

/** The whole session has no memory to show. */
export function noMemories(reply, openTool) {
  const { hosts } = reply;
  const title =
    hosts.length > 0 && hosts.every((host) => host.state === "error")
      ? "This session cannot be read."
      : "There is no memory profile to display.";
  const notes = (reply.notes ?? []).map((note) => paragraph(note));
  return message(
    title,
    ...hosts.flatMap((host) => hostParts(host, hosts.length > 1)),
    ...notes,
    goOn(openTool),
    howToRecord(),
  );
}

/** One host has none, others may. */
export function noMemoryOnHost(host, reply, openTool, openHost) {
  const others = [...new Set(listMemories(reply).map((one) => one.host.host))];
  return message(
    `Host ${host.host} has no memory profile to display.`,
    ...hostParts(host, false),
    others.length ? paragraph("Hosts that have one: ", ...linked(others, openHost), ".") : null,
    goOn(openTool),
    howToRecord(),
  );
}

/** What the address asks for may be in a host that comes later. */
export function stillReading({ host }, reply) {
  return message(
    host ? `Host ${host} is being read.` : "The memory profile is being read.",
    paragraph(`${readCount(reply)} of ${reply.hosts.length} hosts are there.`),
  );
}

/** The address names what is not there. */
export function unknownMemory({ host, memory_id: memoryId }, reply, openHost) {
  const others = [...new Set(listMemories(reply).map((one) => one.host.host))];
  return message(
    memoryId === null
      ? `This session has no host "${host}".`
      : `There is no memory "${memoryId}"${host ? ` on host ${host}` : ""}.`,
    paragraph("The address asks for it. Hosts with memory events: ", ...linked(others, openHost), "."),
  );
}

function linked(names, open) {
  return names.flatMap((name, i) => [
    ...(i ? [", "] : []),
    button(name, () => open(name), { class: "link" }),
  ]);
}

function hostParts(host, withName) {
  const name = withName ? [el("h3", {}, `Host ${host.host}`)] : [];
  if (host.state === "error" && host.error)
    return [...name, errorLine(host.error)];
  return [...name, host.reason ? paragraph(host.reason) : null, host.advice ? paragraph(host.advice) : null];
}

function howToRecord() {
  return headed("To record memory events with JAX", copyable(SNIPPET, "copy the program"));
}

function goOn(openTool) {
  return paragraph(
    "What each compiled program of this session needs, in program order: ",
    toolLink("memory_viewer", "Memory Viewer", openTool),
    ".",
  );
}
