// @ts-check
// Which ops allocate most, and how sizes and lifetimes are spread. Pure.
import { column } from "../../../../base/column.js";

/** How often the figure fits into the base; null where there is none. */
const ratio = (figure, base) => (base > 0 ? figure / base : null);

export function churnRows(reply) {
  const { ops, strings } = reply;
  return ops.op.map((op, i) => ({
    id: `op ${op}`,
    op: strings[op],
    allocations: ops.allocations[i],
    frees: ops.frees[i],
    requested: ops.requested_bytes[i],
    allocated: ops.allocated_bytes[i],
    share: ratio(ops.allocated_bytes[i], reply.allocated_bytes),
    over: ratio(ops.allocated_bytes[i], ops.requested_bytes[i]),
    held: ops.held_bytes[i],
    largest: ops.largest_bytes[i],
    lifetime: ops.median_lifetime_ps[i] >= 0 ? ops.median_lifetime_ps[i] : null,
  }));
}

export const CHURN_COLUMNS = [
  column("op", "Op Name", "op", (row) => row.op, { csv: "OpName" }),
  column("count", "Allocations", "count", (row) => row.allocations, { csv: "Allocations", width: 90 }),
  column("allocated", "Allocated", "size", (row) => row.allocated, {
    csv: "AllocatedBytes",
    width: 104,
    title: "sum over all allocations of the profile",
  }),
  column("share", "Of all", "share", (row) => row.share, { csv: "ShareOfAllocated", width: 76 }),
  column("requested", "Requested", "size", (row) => row.requested, { csv: "RequestedBytes", width: [104, 1360, 0] }),
  column("over", "Over-alloc.", "ratio", (row) => row.over, {
    csv: "OverAllocation",
    width: 98,
    title: "allocated / requested: what rounding to the allocator's block sizes costs",
  }),
  column("largest", "Largest", "size", (row) => row.largest, { csv: "LargestBytes", width: 104 }),
  column("lifetime", "Median lifetime", "duration", (row) => row.lifetime, {
    csv: "MedianLifetimePs",
    width: 126,
    title: "half of its allocations that were freed lived no longer",
  }),
  column("frees", "Frees", "count", (row) => row.frees, { csv: "Frees", width: [90, 1360, 0] }),
  column("held", "Never freed", "size", (row) => row.held, { csv: "NeverFreedBytes", width: 104, noZero: true }),
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
