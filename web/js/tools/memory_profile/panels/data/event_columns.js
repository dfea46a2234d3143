// @ts-check
// The events of a window as a table that is loaded in chunks. Pure.
import { column } from "../../../../base/column.js";

const text = (key) => (reply, i) => reply.strings[reply[key][i]];
const figure = (key) => (reply, i) => reply[key][i];
/** What the allocator did not tell is 0 in the reply; a free that was matched tells its allocation's size. */
const partner = (reply, i) => (reply.partner_row[i] < 0 ? null : reply.partner_row[i]);

export const EVENT_COLUMNS = [
  column("row", "Event", "row", figure("row"), {
    csv: "Row",
    width: [76, 1360, 62],
    title: "counted from 1; CSV has the row, from 0",
  }),
  column("time", "Time", "time", figure("time_ps"), { csv: "TimePs", width: 112 }),
  column("kind", "Kind", "text", (r, i) => (r.is_free[i] ? "free" : "allocation"), { csv: "Kind", width: 76 }),
  column("op", "Op Name", "op", text("op"), { csv: "OpName" }),
  column("allocated", "Allocated", "size", figure("allocated_bytes"), {
    csv: "AllocatedBytes",
    width: [104, 1360, 92],
  }),
  column("requested", "Requested", "size", figure("requested_bytes"), {
    csv: "RequestedBytes",
    width: [104, 1360, 0],
  }),
  column("heap", "Heap after", "size", figure("heap_bytes"), { csv: "HeapBytes", width: [104, 1360, 92] }),
  column("stack", "Stack", "size", figure("stack_bytes"), { csv: "StackBytes", width: [84, 1700, 0], noZero: true }),
  column("free", "Free after", "size", figure("free_bytes"), { csv: "FreeBytes", width: 104 }),
  column("fragmentation", "Frag.", "share", figure("fragmentation"), {
    csv: "Fragmentation",
    width: [76, 1360, 0],
    title: "fragmentation after the event: 1 - largest free block / free",
  }),
  column("region", "Region type", "text", text("region_type"), { csv: "RegionType", width: [96, 1360, 0] }),
  column("type", "Data type", "text", text("data_type"), { csv: "DataType", width: [80, 1360, 0] }),
  column("shape", "Shape", "text", text("shape"), { csv: "Shape", width: 128 }),
  column("step", "Step", "number", figure("step"), { csv: "Step", width: 52 }),
  column("partner", "Partner", "row", partner, {
    csv: "PartnerRow",
    width: [76, 1360, 0],
    title: "the free of an allocation, or the allocation of a free",
  }),
  column("address", "Address", "text", figure("address"), { csv: "Address", width: [126, 1700, 0] }),
  column("thread", "Thread", "text", text("thread"), { csv: "Thread", width: [110, 1700, 0] }),
  column("unexplained", "Unexplained", "size", figure("unexplained_bytes"), {
    csv: "UnexplainedBytes",
    width: 104,
    noZero: true,
    title: "how far heap + stack are from those before plus or minus what the event moved",
  }),
].map((one) => ({ ...one, fixed: true }));

const CSV_ONLY = [
  { csv: "StepIsCompleted", value: figure("step_is_completed") },
  { csv: "LifetimePeakBytes", value: figure("peak_bytes") },
];

export function eventCsvColumns(reply) {
  return [...EVENT_COLUMNS, ...CSV_ONLY].map(({ csv, value }) => ({ csv, value: (i) => value(reply, i) }));
}

export const CHUNK_ROWS = 1000;
const KEPT_CHUNKS = 24;

/**
 * Chunks of a list of events, the latest used ones kept: `find(index)` gives the reply that holds it, and where in it.
 */
export function createChunks() {
  /** @type {Map<number, any>} */
  const chunks = new Map();
  const number = (index) => Math.floor(index / CHUNK_ROWS);

  return {
    clear: () => chunks.clear(),
    find(index) {
      const reply = chunks.get(number(index));
      if (!reply) return null;
      chunks.delete(number(index));
      chunks.set(number(index), reply);
      return { reply, i: index - number(index) * CHUNK_ROWS };
    },
    put(reply) {
      chunks.set(number(reply.offset), reply);
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
