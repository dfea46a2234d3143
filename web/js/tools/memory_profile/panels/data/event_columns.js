// @ts-check
// The events of a window as a table that is loaded in chunks. Pure.

const text = (key) => (reply, i) => reply.strings[reply[key][i]];
const figure = (key) => (reply, i) => reply[key][i];
/** What the allocator did not tell is 0 in the reply; a free that was matched tells its allocation's size. */
const partner = (reply, i) => (reply.partner_row[i] < 0 ? null : reply.partner_row[i]);

export const EVENT_COLUMNS = [
  {
    key: "row",
    label: "Event",
    csv: "Row",
    kind: "number",
    title: "counted from 1; CSV has the row, from 0",
    isRow: true,
    at: figure("row"),
  },
  { key: "time", label: "Time", csv: "TimePs", kind: "time", at: figure("time_ps") },
  { key: "kind", label: "Kind", csv: "Kind", kind: "text", at: (r, i) => (r.is_free[i] ? "free" : "allocation") },
  { key: "op", label: "Op Name", csv: "OpName", kind: "op", at: text("op") },
  { key: "allocated", label: "Allocated", csv: "AllocatedBytes", kind: "size", at: figure("allocated_bytes") },
  { key: "requested", label: "Requested", csv: "RequestedBytes", kind: "size", at: figure("requested_bytes") },
  { key: "heap", label: "Heap after", csv: "HeapBytes", kind: "size", at: figure("heap_bytes") },
  { key: "stack", label: "Stack", csv: "StackBytes", kind: "size", at: figure("stack_bytes") },
  { key: "free", label: "Free after", csv: "FreeBytes", kind: "size", at: figure("free_bytes") },
  {
    key: "fragmentation",
    label: "Frag.",
    csv: "Fragmentation",
    kind: "share",
    title: "fragmentation after the event: 1 - largest free block / free",
    at: figure("fragmentation"),
  },
  { key: "region", label: "Region type", csv: "RegionType", kind: "text", at: text("region_type") },
  { key: "type", label: "Data type", csv: "DataType", kind: "text", at: text("data_type") },
  { key: "shape", label: "Shape", csv: "Shape", kind: "text", at: text("shape") },
  { key: "step", label: "Step", csv: "Step", kind: "number", at: figure("step") },
  {
    key: "partner",
    label: "Partner",
    csv: "PartnerRow",
    kind: "number",
    isRow: true,
    title: "the free of an allocation, or the allocation of a free",
    at: partner,
  },
  { key: "address", label: "Address", csv: "Address", kind: "text", at: figure("address") },
  { key: "thread", label: "Thread", csv: "Thread", kind: "text", at: text("thread") },
  {
    key: "unexplained",
    label: "Unexplained",
    csv: "UnexplainedBytes",
    kind: "size",
    title: "how far heap + stack are from those before plus or minus what the event moved",
    at: figure("unexplained_bytes"),
  },
].map((column) => ({ ...column, fixed: true }));

const CSV_ONLY = [
  { csv: "StepIsCompleted", at: figure("step_is_completed") },
  { csv: "LifetimePeakBytes", at: figure("peak_bytes") },
];

export function eventCsvColumns(reply) {
  return [...EVENT_COLUMNS, ...CSV_ONLY].map(({ csv, at }) => ({ csv, value: (i) => at(reply, i) }));
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
