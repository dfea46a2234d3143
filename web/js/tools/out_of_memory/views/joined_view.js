// @ts-check
// The program that the message is about, where the log directory holds it.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { formatSize } from "../../../base/format.js";
import { moduleParams } from "../data/links.js";
import { appLink } from "./app_link.js";
import { part } from "./part.js";

export function joinedNode(message, context) {
  const { joined } = message;
  if (!joined) return notJoined(message, context);
  const params = moduleParams(message, context.capacity);
  const where = `${joined.module} in ${joined.session}${joined.host ? `, host ${joined.host}` : ""}. `;
  return part(
    "Its buffers",
    el("p", { class: "oom-joined" }, where, ...totalsOf(joined.totals, context.mode)),
    ...(joined.replicated_arguments ?? []).map((one) => replicatedNode(one, context.mode)),
    el(
      "p",
      { class: "oom-links" },
      appLink("Open in Memory Viewer", params, context.follow),
    ),
  );
}

function totalsOf(totals, mode) {
  const figure = (bytes, words) => (bytes > 0 ? [sizeFigure(bytes, mode), words] : []);
  if (!totals) return [];
  return [...figure(totals.peak_bytes, " at its peak, "), ...figure(totals.total_allocation_bytes, " in all.")];
}

function replicatedNode(one, mode) {
  return el(
    "p",
    { class: "oom-replicated" },
    `Every chip holds all of ${one.name}, `,
    el("code", {}, one.shape),
    ": ",
    sizeFigure(one.size_bytes, mode),
    `. Divided over ${one.partitions} it would be `,
    sizeFigure(one.sharded_bytes, mode),
    " a chip.",
  );
}

/** How far the search came, and what came near. */
function searchText({ sessions, session_count: all, is_cut_short: isCut, nearest }) {
  const near = nearest
    ? ` The nearest, ${nearest.module} in ${nearest.session}, takes ${formatSize(nearest.total_allocation_bytes)}.`
    : "";
  return `Searched ${sessions} of ${all} sessions${isCut ? " in the time there is" : ""}.${near}`;
}

function notJoined(message, { isAllRead }) {
  if (!message.module) return null;
  const name = message.search?.nearest ? `${message.module} in the size of the message` : message.module;
  const sessions = isAllRead ? "session here" : "session here that could be read";
  return part(
    "Its buffers",
    el(
      "p",
      { class: "note" },
      `No ${sessions} holds ${name}. ${message.search ? searchText(message.search) : ""} ` +
        "With a profile or an XLA dump of it (XLA_FLAGS=--xla_dump_to=DIR " +
        "works even when compiling fails), its buffers, their source lines and the bytes of each change would be here.",
    ),
  );
}
