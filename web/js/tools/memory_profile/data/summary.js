// @ts-check
// The summary in XProf's words, with true counts, and what XProf shows where that differs. Pure.
import { formatPercent, groupDigits, plural } from "../../../base/format.js";
import { formatMs } from "../../../base/time_text.js";

const SAMPLED =
  "XProf counts only the events among the 1000 snapshots that it draws; here all events of the profile are counted.";
const LAST_EVENT = "XProf shows what the last event in the file told, which need not be the highest.";
const OTHER_PEAK = "Of equally high moments XProf takes the last in the file's order; here it is the first in time.";
export const FRAGMENTATION_MEANING = "100 % x (1 - largest free block / free memory)";

/**
 * @typedef {{id: string, label: string, note?: string, bytes?: number | null, text?: string, xprof?: {bytes?: number,
 *            text?: string, why: string}, title?: string}} Line
 * @returns {Line[][]} the memory, its peak (both as XProf's card has them), and what XProf lacks
 */
export function summaryLines(memory) {
  return [countLines(memory), peakLines(memory), ownLines(memory)];
}

const bytesLine = (id, label, bytes, more = {}) => ({ id, label, bytes, ...more });
const textLine = (id, label, text, more = {}) => ({ id, label, text, ...more });

/** @returns {Line[]} */
function countLines({ xprof, ...memory }) {
  const lifetime = memory.lifetime_peak_bytes;
  const theirs = xprof?.lifetime_peak_bytes ?? lifetime;
  return [
    textLine("allocations", "#Allocation", groupDigits(memory.allocations), {
      xprof: differs(memory.allocations, xprof?.allocations, SAMPLED),
    }),
    textLine("deallocations", "#Deallocation", groupDigits(memory.frees), {
      xprof: differs(memory.frees, xprof?.frees, SAMPLED),
    }),
    bytesLine("capacity", "Memory Capacity", memory.capacity_bytes, { title: "stack + heap + free, at the peak" }),
    bytesLine("lifetime-peak", "Lifetime Peak Heap Usage", lifetime, {
      note: "(high water mark in lifetime, may be outside profiling window)",
      xprof: theirs === lifetime ? undefined : { bytes: theirs, why: LAST_EVENT },
    }),
    bytesLine("window-peak", "Profile-window Peak Memory Usage", memory.peak_bytes, {
      note: "(stack + heap, within profiling window)",
    }),
  ];
}

/** Where and how that peak was. @returns {Line[]} */
function peakLines({ at_peak: state, xprof, ...memory }) {
  if (!state) return [];
  const step = memory.peak_step === null || memory.peak_step < 0 ? "" : `, step ${groupDigits(memory.peak_step)}`;
  const theirs = xprof?.peak_ps ?? memory.peak_ps;
  return [
    textLine("timestamp", "Timestamp", `${formatMs(memory.peak_ps)}${step}`, {
      xprof: theirs === memory.peak_ps ? undefined : { text: formatMs(theirs), why: OTHER_PEAK },
    }),
    bytesLine("stack", "Stack Reservation", state.stack_bytes),
    bytesLine("heap", "Heap Allocation", state.heap_bytes),
    bytesLine("free", "Free Memory", memory.tells_free === false ? null : state.free_bytes),
    textLine("fragmentation", "Fragmentation", shareText(state.fragmentation), { title: FRAGMENTATION_MEANING }),
  ];
}

/** What XProf does not say. @returns {Line[]} */
function ownLines(memory) {
  const over = memory.requested_bytes > 0 ? memory.allocated_bytes / memory.requested_bytes : null;
  return [
    bytesLine("largest-free", "Largest free block", memory.at_peak?.largest_free_bytes, {
      title: "at the peak: free x (1 - fragmentation)",
    }),
    bytesLine("allocated", "Allocated in all", memory.allocated_bytes, { title: "over all allocations seen" }),
    textLine("over-allocation", "Over-allocation", over === null ? "not told" : `${over.toFixed(2)} x`, {
      title: "allocated / requested, over all allocations seen",
    }),
    bytesLine("held-begin", "Held before the first event", memory.held_at_begin_bytes, {
      title: "the heap before the first event: nobody here can say what it is",
    }),
    bytesLine("held-end", "Still held at the end", memory.held_at_end_bytes, {
      title: `${plural(memory.held_allocations, "allocation")} seen here and not seen freed`,
    }),
  ];
}

function differs(ours, theirs, why) {
  return theirs === undefined || theirs === null || theirs === ours ? undefined : { text: groupDigits(theirs), why };
}

/** A fragmentation that is no number: the region is exactly full. */
export function shareText(share) {
  return share === null || Number.isNaN(share) ? "not told" : formatPercent(share, 2);
}
