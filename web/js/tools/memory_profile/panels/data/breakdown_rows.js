// @ts-check
/**
 * What fills the memory at a moment, as rows of a table: the allocation sites of the reply, what none of them explains,
 * and the stack. Pure.
 *
 *     heap = sites + unexplained         stack stands beside the heap
 */
import { column } from "../../../../base/column.js";
import { matcher } from "../../../../base/text_match.js";

/**
 * @typedef {{id: string, kind: "site" | "unexplained" | "stack", op: string, regionType: string, dataType: string,
 *            shape: string, occurrences: number | null, requested: number | null, allocated: number | null,
 *            total: number, share: number | null, firstRow: number | null, firstStep: number | null,
 *            lastStep: number | null, title: string}} BreakdownRow
 */

/** XProf's word for the heap that no allocation seen accounts for. */
const UNEXPLAINED = "unused preallocated device memory";

const WHY = {
  more:
    "The part of the heap that no allocation seen here explains: it was allocated before the profiler began to watch " +
    "(weights, optimizer state), or its allocation was missed. XProf calls it so, although it is in use.",
  less: "Allocations seen here that the allocator no longer counts: their frees were missed.",
  stack: "Reserved on the stack, outside the heap.",
};

/** @returns {BreakdownRow[]} */
export function breakdownRows(reply) {
  const share = (bytes) => (reply.heap_bytes > 0 ? bytes / reply.heap_bytes : null);
  const rows = siteRows(reply, share);
  const rest = reply.unexplained_bytes;
  if (rest > 0) rows.push(special("unexplained", UNEXPLAINED, "persist/dynamic", rest, share(rest), WHY.more));
  if (rest < 0) rows.push(special("unexplained", "frees that were not seen", "", rest, share(rest), WHY.less));
  if (reply.stack_bytes > 0) rows.push(special("stack", "stack", "stack", reply.stack_bytes, null, WHY.stack));
  return rows;
}

function siteRows({ rows, strings }, share) {
  return rows.op.map((op, i) => ({
    id: `site ${rows.first_row[i]}`,
    kind: "site",
    op: strings[op],
    regionType: strings[rows.region_type[i]],
    dataType: strings[rows.data_type[i]],
    shape: strings[rows.shape[i]],
    occurrences: rows.occurrences[i],
    requested: rows.requested_bytes[i],
    allocated: rows.allocated_bytes[i],
    total: rows.total_bytes[i],
    share: share(rows.total_bytes[i]),
    firstRow: rows.first_row[i],
    firstStep: rows.first_step[i],
    lastStep: rows.last_step[i],
    title: strings[op],
  }));
}

function special(kind, op, regionType, total, share, title) {
  const unknown = {
    occurrences: null,
    requested: null,
    allocated: null,
    firstRow: null,
    firstStep: null,
    lastStep: null,
  };
  return { id: kind, kind, op, regionType, dataType: "", shape: "", total, share, title, ...unknown };
}

/** XProf's columns in XProf's words, and what they leave open: the sum of all occurrences and its share. */
export const BREAKDOWN_COLUMNS = [
  column("op", "Op Name", "op", (row) => row.op, { csv: "OpName" }),
  column("total", "Total", "size", (row) => row.total, {
    csv: "TotalBytes",
    width: [118, 1360, 92],
    title: "allocation size x occurrences",
  }),
  column("share", "Of heap", "share", (row) => row.share, { csv: "ShareOfHeap", width: 86 }),
  column("allocated", "Allocation Size", "size", (row) => row.allocated, {
    csv: "AllocationSizeBytes",
    width: 118,
    title: "what the allocator set aside for one occurrence",
  }),
  column("requested", "Requested Size", "size", (row) => row.requested, {
    csv: "RequestedSizeBytes",
    width: 118,
    title: "what one occurrence asked for",
  }),
  column("occurrences", "Occurrences", "count", (row) => row.occurrences, { csv: "Occurrences", width: 98 }),
  column("region", "Region type", "text", (row) => row.regionType, { csv: "RegionType", width: 112 }),
  column("type", "Data type", "text", (row) => row.dataType, { csv: "DataType", width: 78 }),
  column("shape", "Shape", "text", (row) => row.shape, { csv: "Shape", width: ["15%", 1360, 112] }),
  column("step", "Since step", "number", (row) => row.firstStep, {
    csv: "FirstStep",
    width: [94, 1360, 0],
    title: "step of the first of these allocations",
  }),
];

export const BREAKDOWN_CSV = [
  ...BREAKDOWN_COLUMNS,
  { csv: "LastStep", value: (row) => row.lastStep },
  { csv: "FirstRow", value: (row) => row.firstRow },
];

/** The rows whose op matches, and of them those of at least `minimum` bytes; the named rests always stay. */
export function selectRows(rows, query, minimum) {
  const test = matcher(query);
  const matching = test ? rows.filter((row) => test(row.op)) : rows;
  const kept = matching.filter((row) => row.kind !== "site" || row.total >= minimum);
  return { kept, leftOut: sumOf(matching.filter((row) => row.kind === "site" && row.total < minimum)) };
}

export function sumOf(rows) {
  return { count: rows.length, bytes: rows.reduce((sum, row) => sum + row.total, 0) };
}
