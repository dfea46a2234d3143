// @ts-check
// Where the joined program, and each of its buffers, is shown: as the page's params. Pure.
import { sizeAsTyped } from "../../../base/size_text.js";
import { parseQuery } from "../../../base/url_state.js";

/** The server's link, in the Memory Viewer, with the capacity that the message tells unless the user told one. */
export function moduleParams(message, capacity) {
  const { joined } = message;
  const told = paramsOfLink(joined.link ?? "");
  const { run = joined.session, module_name = joined.module } = told;
  return { ...told, run, module_name, tag: "memory_viewer", capacity: capacity ?? capacityOf(message) };
}

/** The joined program with its advice open; null without one. */
export function adviceParams(message, capacity) {
  return message.joined ? { ...moduleParams(message, capacity), panel: "advice" } : null;
}

/** @returns {Record<string, string | null> | null} null where the message lists what no buffer is known for */
export function bufferParams(message, entry, capacity) {
  if (!message.joined || !entry.link) return null;
  return { ...moduleParams(message, capacity), ...paramsOfLink(entry.link) };
}

function paramsOfLink(link) {
  const query = link.includes("?") ? link.slice(link.indexOf("?")) : "";
  return Object.fromEntries(Object.entries(parseQuery(query)).filter(([, value]) => value !== null));
}

function capacityOf({ capacity_bytes: bytes, memory_space: space }) {
  return bytes && (!space || space.toLowerCase() === "hbm") ? sizeAsTyped(bytes) : null;
}
