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

function countLines(memory) {
  const { xprof } = memory;
  return [
    {
      id: "allocations",
      label: "#Allocation",
      text: groupDigits(memory.allocations),
      xprof: differs(memory.allocations, xprof?.allocations, SAMPLED),
    },
    {
      id: "deallocations",
      label: "#Deallocation",
      text: groupDigits(memory.frees),
      xprof: differs(memory.frees, xprof?.frees, SAMPLED),
    },
    {
      id: "capacity",
      label: "Memory Capacity",
      bytes: memory.capacity_bytes,
      title: "stack + heap + free, at the peak",
    },
    {
      id: "lifetime-peak",
      label: "Lifetime Peak Heap Usage",
      note: "(high water mark in lifetime, may be outside profiling window)",
      bytes: memory.lifetime_peak_bytes,
      xprof:
        xprof && xprof.lifetime_peak_bytes !== null && xprof.lifetime_peak_bytes !== memory.lifetime_peak_bytes
          ? { bytes: xprof.lifetime_peak_bytes, why: LAST_EVENT }
          : undefined,
    },
    {
      id: "window-peak",
      label: "Profile-window Peak Memory Usage",
      note: "(stack + heap, within profiling window)",
      bytes: memory.peak_bytes,
    },
  ];
}

/** Where and how that peak was. */
function peakLines(memory) {
  const { at_peak: state, xprof } = memory;
  const step = memory.peak_step === null || memory.peak_step < 0 ? "" : `, step ${groupDigits(memory.peak_step)}`;
  if (!state) return [];
  return [
    {
      id: "timestamp",
      label: "Timestamp",
      text: `${formatMs(memory.peak_ps)}${step}`,
      xprof:
        xprof && xprof.peak_ps !== null && xprof.peak_ps !== memory.peak_ps
          ? { text: formatMs(xprof.peak_ps), why: OTHER_PEAK }
          : undefined,
    },
    { id: "stack", label: "Stack Reservation", bytes: state.stack_bytes },
    { id: "heap", label: "Heap Allocation", bytes: state.heap_bytes },
    { id: "free", label: "Free Memory", bytes: memory.tells_free === false ? null : state.free_bytes },
    {
      id: "fragmentation",
      label: "Fragmentation",
      text: shareText(state.fragmentation),
      title: FRAGMENTATION_MEANING,
    },
  ];
}

/** What XProf does not say. */
function ownLines(memory) {
  const over = memory.requested_bytes > 0 ? memory.allocated_bytes / memory.requested_bytes : null;
  return [
    {
      id: "largest-free",
      label: "Largest free block",
      bytes: memory.at_peak?.largest_free_bytes,
      title: "at the peak: free x (1 - fragmentation)",
    },
    { id: "allocated", label: "Allocated in all", bytes: memory.allocated_bytes, title: "over all allocations seen" },
    {
      id: "over-allocation",
      label: "Over-allocation",
      text: over === null ? "not told" : `${over.toFixed(2)} x`,
      title: "allocated / requested, over all allocations seen",
    },
    {
      id: "held-begin",
      label: "Held before the first event",
      bytes: memory.held_at_begin_bytes,
      title: "the heap before the first event: nobody here can say what it is",
    },
    {
      id: "held-end",
      label: "Still held at the end",
      bytes: memory.held_at_end_bytes,
      title: `${plural(memory.held_allocations, "allocation")} seen here and not seen freed`,
    },
  ];
}

function differs(ours, theirs, why) {
  return theirs === undefined || theirs === null || theirs === ours ? undefined : { text: groupDigits(theirs), why };
}

/** A fragmentation that is no number: the region is exactly full. */
export function shareText(share) {
  return share === null || Number.isNaN(share) ? "not told" : formatPercent(share, 2);
}
