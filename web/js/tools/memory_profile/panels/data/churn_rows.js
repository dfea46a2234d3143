// @ts-check
// Which ops allocate most, and how sizes and lifetimes are spread. Pure.
import { column } from "../../../../base/column.js";
import { rowsOf } from "../../../../base/reply_rows.js";

/** How often the figure fits into the base; null where there is none. */
const ratio = (figure, base) => (base > 0 ? figure / base : null);

export function churnRows(reply) {
  return rowsOf(reply.ops, reply.strings, ["op"]).map((row) => ({
    ...row,
    share: ratio(row.allocated_bytes, reply.allocated_bytes),
    over: ratio(row.allocated_bytes, row.requested_bytes),
    lifetime: row.median_lifetime_ps >= 0 ? row.median_lifetime_ps : null,
  }));
}

export const CHURN_COLUMNS = [
  column("op", "Op Name", "op", "op", { csv: "OpName" }),
  column("count", "Allocations", "count", "allocations", { csv: "Allocations", width: 90 }),
  column("allocated", "Allocated", "size", "allocated_bytes", {
    csv: "AllocatedBytes",
    width: 104,
    title: "sum over all allocations of the profile",
  }),
  column("share", "Of all", "share", "share", { csv: "ShareOfAllocated", width: 76 }),
  column("requested", "Requested", "size", "requested_bytes", { csv: "RequestedBytes", width: [104, 1360, 0] }),
  column("over", "Over-alloc.", "ratio", "over", {
    csv: "OverAllocation",
    width: 98,
    title: "allocated / requested: what rounding to the allocator's block sizes costs",
  }),
  column("largest", "Largest", "size", "largest_bytes", { csv: "LargestBytes", width: 104 }),
  column("lifetime", "Median lifetime", "duration", "lifetime", {
    csv: "MedianLifetimePs",
    width: 126,
    title: "half of its allocations that were freed lived no longer",
  }),
  column("frees", "Frees", "count", "frees", { csv: "Frees", width: [90, 1360, 0] }),
  column("held", "Never freed", "size", "held_bytes", { csv: "NeverFreedBytes", width: 104, noZero: true }),
];

/**
 * Bars of a histogram: the reply tells the buckets that hold something, and each is `factor` wide: those between are
 * empty bars.
 * @returns {{from: number, to: number, count: number, bytes: number, countShare: number, bytesShare: number}[]}
 *     the shares are of the largest bar
 */
export function histogramBars(from, to, { count, bytes }, factor) {
  const mostCount = Math.max(1, ...count);
  const mostBytes = Math.max(1, ...bytes);
  const bars = [];
  from.forEach((begin, i) => {
    for (let edge = bars.at(-1)?.to ?? begin; edge > 0 && edge < begin; edge *= factor)
      bars.push(emptyBar(edge, factor));
    const shares = { countShare: count[i] / mostCount, bytesShare: bytes[i] / mostBytes };
    bars.push({ from: begin, to: to[i], count: count[i], bytes: bytes[i], ...shares });
  });
  return bars;
}

function emptyBar(from, factor) {
  return { from, to: from * factor, count: 0, bytes: 0, countShare: 0, bytesShare: 0 };
}
