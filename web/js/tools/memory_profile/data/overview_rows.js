// @ts-check
// The overview table: one row a memory, and one for each host that has none, with the reason. Pure.
import { column } from "../../../base/column.js";
import { highestFirst } from "./memories.js";

const figure = (key) => (row) => row.memory?.[key];

export const COLUMNS = [
  column("over", "Over", "text", () => null, { width: 46, title: "Draw it over the chosen one" }),
  column("host", "Host", "text", (row) => row.host.host, { csv: "Host", width: "9%" }),
  column("memory", "Memory ID", "text", (row) => row.memory?.memory_id ?? reasonOf(row.host), {
    csv: "MemoryId",
  }),
  column("capacity", "Capacity", "size", figure("capacity_bytes"), {
    csv: "CapacityBytes",
    width: 82,
    title: "stack + heap + free",
  }),
  column("peak", "Peak", "size", figure("peak_bytes"), {
    csv: "PeakBytes",
    width: 82,
    title: "stack + heap, within the profile",
  }),
  column("lifetime", "Lifetime peak", "size", figure("lifetime_peak_bytes"), {
    csv: "LifetimePeakBytes",
    width: 104,
  }),
  column("when", "When", "time", figure("peak_ps"), { csv: "PeakPs", width: 104, title: "of the peak" }),
  column("fragmentation", "Fragmentation", "share", (row) => row.memory && row.memory.at_peak?.fragmentation, {
    csv: "Fragmentation",
    width: 112,
    title: "at the peak: 1 - largest free block / free",
  }),
  column("allocations", "Allocations", "count", figure("allocations"), { csv: "Allocations", width: 82 }),
  column("frees", "Frees", "count", figure("frees"), { csv: "Frees", width: 64 }),
  column("held", "Still held", "size", figure("held_at_end_bytes"), {
    csv: "HeldAtEndBytes",
    width: 92,
    title: "allocated here, not freed here",
  }),
];

/** @returns {{host: any, memory: any | null, token: string}[]} */
export function overviewRows(reply, memories) {
  return highestFirst(reply.hosts).flatMap((host) => {
    const own = memories.filter((one) => one.host === host);
    return own.length ? own : [{ host, memory: null, token: `${host.host}/` }];
  });
}

/** Why a host has no row of figures. */
export function reasonOf(host) {
  if (host.state === "loading") return "being read ...";
  return host.error ? `cannot be read: ${host.error.message}` : host.reason || "no memory events";
}

/** What is there to be read about a memory. */
export function notesOf(reply, { host, memory }) {
  return [...(memory?.notes ?? []), ...faultOf(host), ...(reply.notes ?? [])];
}

function faultOf({ error, state }) {
  return error && state === "events"
    ? [`The file is damaged; what is shown stands before the fault. ${error.message}`]
    : [];
}
