// @ts-check
// What the Memory Viewer says when there is a module but nothing, or not everything, to draw.
import { el } from "../../../base/dom.js";
import { formatSize, plural } from "../../../base/format.js";
import { namedHosts } from "../data/modules.js";
import { code, linkList, message, paragraph } from "../../../shell/messages.js";

export function unknownModule(name, reply, onOpen) {
  const hosts = namedHosts(reply);
  const names = hosts.map((host) => host.name).join(", ");
  return message(
    `This session has no module "${name}".`,
    paragraph(
      "It was looked for ",
      ...(hosts.length === 0
        ? [`in its ${plural(reply.hosts.length, "file")}`]
        : [hosts.length === 1 ? "on its one host" : `on its ${hosts.length} hosts`, ": ", code(names)]),
      ". Modules that are there:",
    ),
    linkList(reply.modules, (one) => one.name, onOpen),
  );
}

export function nothingHere(view) {
  const others = view.memory_spaces
    .filter((one) => one.peak_bytes > 0)
    .map((one) => `${one.name} (${formatSize(one.peak_bytes)})`);
  return message(
    "There is no data to display.",
    paragraph(whyNothing(view)),
    others.length ? paragraph(`Memory types of this program with buffers to show: ${others.join(", ")}.`) : null,
  );
}

function whyNothing({ module, memory_space_name: space, totals }) {
  if (totals.total_allocation_bytes > 0) {
    return (
      `${module} has ${formatSize(totals.total_allocation_bytes)} of temporaries in ${space}, but the compiler left ` +
      "no heap simulation of them: when each one lives is not known."
    );
  }
  if (totals.thread_local_bytes > 0) {
    return `${module} has only thread-local allocations in ${space} (${formatSize(totals.thread_local_bytes)}).`;
  }
  return `${module} allocates no buffer in ${space}.`;
}

export function buffersToCome(count) {
  return el(
    "p",
    { class: "note", role: "status" },
    `The timeline and the table of ${plural(count, "buffer")} follow.`,
  );
}

export function noSimulation(view) {
  return el(
    "section",
    { class: "chart no-simulation" },
    el("h2", {}, "Memory Allocation Size vs Program Order"),
    el(
      "p",
      { class: "note" },
      `The compiler left no heap simulation for ${view.memory_space_name}: nothing is allocated and freed while the ` +
        `program runs, so there is no curve. ` +
        `The ${formatSize(view.totals.peak_bytes)} below are held from its first to its last step.`,
    ),
  );
}
