// @ts-check
// The events of a window as a table that is loaded in chunks. Pure.
import { column } from "../../../../base/column.js";

/** What the allocator did not tell is 0 in the reply; a free that was matched tells its allocation's size. */
const partner = (event) => (event.partner_row < 0 ? null : event.partner_row);

export const EVENT_COLUMNS = [
  column("row", "Event", "row", "row", {
    csv: "Row",
    width: [76, 1360, 62],
    title: "counted from 1; CSV has the row, from 0",
  }),
  column("time", "Time", "time", "time_ps", { csv: "TimePs", width: 112 }),
  column("kind", "Kind", "text", (event) => (event.is_free ? "free" : "allocation"), { csv: "Kind", width: 76 }),
  column("op", "Op Name", "op", "op", { csv: "OpName" }),
  column("allocated", "Allocated", "size", "allocated_bytes", {
    csv: "AllocatedBytes",
    width: [104, 1360, 92],
  }),
  column("requested", "Requested", "size", "requested_bytes", {
    csv: "RequestedBytes",
    width: [104, 1360, 0],
  }),
  column("heap", "Heap after", "size", "heap_bytes", { csv: "HeapBytes", width: [104, 1360, 92] }),
  column("stack", "Stack", "size", "stack_bytes", { csv: "StackBytes", width: [84, 1700, 0], noZero: true }),
  column("free", "Free after", "size", "free_bytes", { csv: "FreeBytes", width: 104 }),
  column("fragmentation", "Frag.", "share", "fragmentation", {
    csv: "Fragmentation",
    width: [76, 1360, 0],
    title: "fragmentation after the event: 1 - largest free block / free",
  }),
  column("region", "Region type", "text", "region_type", { csv: "RegionType", width: [96, 1360, 0] }),
  column("type", "Data type", "text", "data_type", { csv: "DataType", width: [80, 1360, 0] }),
  column("shape", "Shape", "text", "shape", { csv: "Shape", width: 128 }),
  column("step", "Step", "number", "step", { csv: "Step", width: 52 }),
  column("partner", "Partner", "row", partner, {
    csv: "PartnerRow",
    width: [76, 1360, 0],
    title: "the free of an allocation, or the allocation of a free",
  }),
  column("address", "Address", "text", "address", { csv: "Address", width: [126, 1700, 0] }),
  column("thread", "Thread", "text", "thread", { csv: "Thread", width: [110, 1700, 0] }),
  column("unexplained", "Unexplained", "size", "unexplained_bytes", {
    csv: "UnexplainedBytes",
    width: 104,
    noZero: true,
    title: "how far heap + stack are from those before plus or minus what the event moved",
  }),
].map((one) => ({ ...one, fixed: true }));

export const EVENT_CSV = [
  ...EVENT_COLUMNS,
  { csv: "StepIsCompleted", value: (event) => event.step_is_completed },
  { csv: "LifetimePeakBytes", value: (event) => event.peak_bytes },
];

export const CHUNK_ROWS = 1000;
const KEPT_CHUNKS = 24;

/**
 * Chunks of a list of events, the latest used ones kept: `find(index)` gives the event, `with(index)` its whole chunk.
 */
export function createChunks() {
  /** @type {Map<number, any[]>} */
  const chunks = new Map();
  const number = (index) => Math.floor(index / CHUNK_ROWS);
  const withIndex = (index) => chunks.get(number(index));

  return {
    clear: () => chunks.clear(),
    find(index) {
      const events = withIndex(index);
      if (!events) return null;
      chunks.delete(number(index));
      chunks.set(number(index), events);
      return events[index % CHUNK_ROWS] ?? null;
    },
    with: withIndex,
    put(offset, events) {
      chunks.set(number(offset), events);
      while (chunks.size > KEPT_CHUNKS) chunks.delete(chunks.keys().next().value);
    },
    /** Offsets of the chunks that [first, last) needs and that are not there. */
    missing(first, last) {
      const offsets = [];
      for (let n = number(first); n * CHUNK_ROWS < last; n += 1) if (!chunks.has(n)) offsets.push(n * CHUNK_ROWS);
      return offsets;
    },
  };
}
