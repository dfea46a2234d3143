// @ts-check
// Hosts side by side, from the reply of .../across: a row for each memory of each host. Pure.
import { column } from "../column.js";
import { rowsOf } from "../reply_rows.js";

/**
 * @typedef {{index: number, host: string, memory_id: string, kind: number, peak_bytes: number, step: number | null,
 *            more_bytes: number, differs: boolean, is_told: boolean}} Row
 * @returns {Row[]} in the reply's order
 */
export function acrossRows(reply) {
  return rowsOf(reply.memories, reply.strings, ["host", "memory_id"]).map((row, index) => ({ ...row, index }));
}

/** Kinds of which there are several memories, what differs most widely first. @returns {number[]} */
export function comparedKinds({ kinds }) {
  const width = (one) => one.highest_bytes - one.lowest_bytes;
  return kinds
    .map((_, i) => i)
    .filter((i) => kinds[i].memories > 1)
    .sort((a, b) => width(kinds[b]) - width(kinds[a]));
}

/** @param {Row[]} rows @param {boolean} isByPeak highest first, else by host */
export function rowsOfKind(rows, kind, isByPeak) {
  const own = rows.filter((row) => row.kind === kind);
  return isByPeak ? own.sort((a, b) => b.peak_bytes - a.peak_bytes || a.index - b.index) : own;
}

export function progressText({ read, hosts, complete }, noun) {
  return complete ? "" : `${read} of ${hosts} ${noun}s read`;
}

export const ACROSS_COLUMNS = [
  column("host", "Host", "text", "host", { csv: "Host" }),
  column("memory", "Memory", "text", "memory_id", { csv: "MemoryId" }),
  column("peak", "Peak", "size", "peak_bytes", { csv: "PeakBytes" }),
  column("step", "Step", "count", "step", { csv: "Step" }),
  column("more", "More than the median", "size", "more_bytes", { csv: "MoreBytes" }),
  column("differs", "Differs", "text", (row) => String(row.differs), { csv: "Differs" }),
];
