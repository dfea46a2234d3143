// @ts-check
/**
 * What fills the memory at a moment, as rows of a table: the allocation sites of the reply, what none of them explains,
 * and the stack. Pure.
 *
 *     heap = sites + unexplained         stack stands beside the heap
 */
import { column } from "../../../../base/column.js";
import { rowsOf } from "../../../../base/reply_rows.js";
import { SITE_TEXTS } from "../../data/event_facts.js";

/** XProf's word for the heap that no allocation seen accounts for. */
const UNEXPLAINED = "unused preallocated device memory";

const WHY = {
  more:
    "The part of the heap that no allocation seen here explains: it was allocated before the profiler began to watch " +
    "(weights, optimizer state), or its allocation was missed. XProf calls it so, although it is in use.",
  less: "Allocations seen here that the allocator no longer counts: their frees were missed.",
  stack: "Reserved on the stack, outside the heap.",
};

/** Beside what the reply tells a row has a `kind` ("site", "unexplained", "stack"), a share of the heap and a title. */
export function breakdownRows(reply) {
  const share = (bytes) => (reply.heap_bytes > 0 ? bytes / reply.heap_bytes : null);
  const rows = rowsOf(reply.rows, reply.strings, SITE_TEXTS).map((row) => siteRow(row, share(row.total_bytes)));
  const rest = reply.unexplained_bytes;
  if (rest > 0) rows.push(namedRow("unexplained", UNEXPLAINED, "persist/dynamic", rest, share(rest), WHY.more));
  if (rest < 0) rows.push(namedRow("unexplained", "frees that were not seen", "", rest, share(rest), WHY.less));
  if (reply.stack_bytes > 0) rows.push(namedRow("stack", "stack", "stack", reply.stack_bytes, null, WHY.stack));
  return rows;
}

function siteRow(row, share) {
  return { ...row, id: `site ${row.first_row}`, kind: "site", share, title: row.op };
}

function namedRow(kind, op, region, total, share, title) {
  return { id: kind, kind, op, region_type: region, data_type: "", shape: "", total_bytes: total, share, title };
}

/** XProf's columns in XProf's words, and what they leave open: the sum of all occurrences and its share. */
export const BREAKDOWN_COLUMNS = [
  column("op", "Op Name", "op", "op", { csv: "OpName" }),
  column("total", "Total", "size", "total_bytes", {
    csv: "TotalBytes",
    width: [118, 1360, 92],
    title: "allocation size x occurrences",
  }),
  column("share", "Of heap", "share", "share", { csv: "ShareOfHeap", width: 86 }),
  column("allocated", "Allocation Size", "size", "allocated_bytes", {
    csv: "AllocationSizeBytes",
    width: [118, 680, 0],
    title: "what the allocator set aside for one occurrence",
  }),
  column("requested", "Requested Size", "size", "requested_bytes", {
    csv: "RequestedSizeBytes",
    width: [118, 800, 0],
    title: "what one occurrence asked for",
  }),
  column("occurrences", "Occurrences", "count", "occurrences", { csv: "Occurrences", width: 98 }),
  column("region", "Region type", "text", "region_type", { csv: "RegionType", width: [112, 920, 0] }),
  column("type", "Data type", "text", "data_type", { csv: "DataType", width: [78, 980, 0] }),
  column("shape", "Shape", "text", "shape", { csv: "Shape", width: ["15%", 1360, 112, 560, 0] }),
  column("step", "Since step", "number", "first_step", {
    csv: "FirstStep",
    width: [94, 1360, 0],
    title: "step of the first of these allocations",
  }),
];

export const BREAKDOWN_CSV = [
  ...BREAKDOWN_COLUMNS,
  { csv: "LastStep", value: (row) => row.last_step },
  { csv: "FirstRow", value: (row) => row.first_row },
];

/** Those of at least `minimum` bytes; the named rests always stay. */
export function withoutSmall(rows, minimum) {
  const kept = rows.filter((row) => row.kind !== "site" || row.total_bytes >= minimum);
  const small = rows.filter((row) => row.kind === "site" && row.total_bytes < minimum);
  return { kept, leftOut: { count: small.length, bytes: small.reduce((sum, row) => sum + row.total_bytes, 0) } };
}
