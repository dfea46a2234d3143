// @ts-check
// Where the joined program, and each of its buffers, is shown: as the page's params. Pure.
import { parseQuery } from "../../../shell/url_state.js";

const GIB = 2 ** 30;

/** The server's link, in the Memory Viewer, with the capacity that the message tells unless the user told one. */
export function moduleParams(message, capacity) {
  const { joined } = message;
  const told = paramsOfLink(joined.link ?? "");
  const { run = joined.session, module_name = joined.module } = told;
  return { ...told, run, module_name, tag: "memory_viewer", capacity: capacity ?? capacityOf(message) };
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

/** "15.75GiB", as a person would type it; the bytes where that would round them. */
function capacityOf({ capacity_bytes: bytes, memory_space: space }) {
  if (!bytes || (space && space.toLowerCase() !== "hbm")) return null;
  const gib = bytes / GIB;
  return Number.isInteger(gib * 100) ? `${gib}GiB` : String(bytes);
}
