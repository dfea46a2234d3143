// @ts-check
// The overview table: one row a memory, and one for each host that has none, with the reason. Pure.

export const COLUMNS = [
  { key: "over", label: "Over", kind: "text", title: "Draw it over the chosen one" },
  { key: "host", label: "Host", kind: "text" },
  { key: "memory", label: "Memory ID", kind: "text" },
  {
    key: "capacity",
    label: "Capacity",
    kind: "size",
    value: (one) => one.capacity_bytes,
    title: "stack + heap + free",
  },
  {
    key: "peak",
    label: "Peak",
    kind: "size",
    value: (one) => one.peak_bytes,
    title: "stack + heap, within the profile",
  },
  { key: "lifetime", label: "Lifetime peak", kind: "size", value: (one) => one.lifetime_peak_bytes },
  { key: "when", label: "When", kind: "time", title: "of the peak" },
  {
    key: "fragmentation",
    label: "Fragmentation",
    kind: "share",
    title: "at the peak: 1 - largest free block / free",
  },
  { key: "allocations", label: "Allocations", kind: "count", value: (one) => one.allocations },
  { key: "frees", label: "Frees", kind: "count", value: (one) => one.frees },
  {
    key: "held",
    label: "Still held",
    kind: "size",
    value: (one) => one.held_at_end_bytes,
    title: "allocated here, not freed here",
  },
];

/** @returns {{host: any, memory: any | null, token: string}[]} */
export function overviewRows(reply, memories) {
  return reply.hosts.flatMap((host) => {
    const own = memories.filter((one) => one.host === host);
    return own.length ? own : [{ host, memory: null, token: `${host.host}/` }];
  });
}

/** Why a host has no row of figures. */
export function reasonOf(host) {
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
