// @ts-check
// Which ops allocate most, and how sizes and lifetimes are spread. Pure.

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
  { key: "op", label: "Op Name", csv: "OpName", kind: "op", value: (row) => row.op },
  { key: "count", label: "Allocations", csv: "Allocations", kind: "count", value: (row) => row.allocations },
  {
    key: "allocated",
    label: "Allocated",
    csv: "AllocatedBytes",
    kind: "size",
    title: "sum over all allocations of the profile",
    value: (row) => row.allocated,
  },
  { key: "share", label: "Of all", csv: "ShareOfAllocated", kind: "share", value: (row) => row.share },
  { key: "requested", label: "Requested", csv: "RequestedBytes", kind: "size", value: (row) => row.requested },
  {
    key: "over",
    label: "Over-alloc.",
    csv: "OverAllocation",
    kind: "ratio",
    title: "allocated / requested: what rounding to the allocator's block sizes costs",
    value: (row) => row.over,
  },
  { key: "largest", label: "Largest", csv: "LargestBytes", kind: "size", value: (row) => row.largest },
  {
    key: "lifetime",
    label: "Median lifetime",
    csv: "MedianLifetimePs",
    kind: "duration",
    title: "half of its allocations that were freed lived no longer",
    value: (row) => row.lifetime,
  },
  { key: "frees", label: "Frees", csv: "Frees", kind: "count", value: (row) => row.frees },
  { key: "held", label: "Never freed", csv: "NeverFreedBytes", kind: "size", value: (row) => row.held },
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
