// A small memory timeline as the server answers it: one entry an event, or gathered into buckets.
const CAPACITY = 1000;

/** @param {number[][]} rows [time_ps, heap_bytes, fragmentation?] in order of time */
export function timelineReply(rows, { from = 0, to = 1000, buckets = 1000 } = {}) {
  const inside = rows.map((row, i) => ({ i, row })).filter(({ row }) => row[0] >= from && row[0] < to);
  const isExact = inside.length <= buckets;
  const width = (to - from) / buckets;
  const groups = new Map();
  for (const one of inside) {
    const key = isExact ? one.i : Math.floor((one.row[0] - from) / width);
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  const entries = [...groups.values()];
  const heap = ({ row }) => row[1];
  const share = ({ row }) => row[2] ?? 0.5;
  const each = (pick) => entries.map(pick);
  const most = (value) => (group) => Math.max(...group.map(value));
  const least = (value) => (group) => Math.min(...group.map(value));
  const last = (value) => (group) => value(group[group.length - 1]);
  const before = rows
    .map((row, i) => ({ i, row }))
    .filter(({ row }) => row[0] < from)
    .at(-1);
  return {
    from_ps: from,
    to_ps: to,
    buckets,
    events: inside.length,
    is_exact: isExact,
    before: before ? state(before) : null,
    count: each((group) => group.length),
    first_row: each((group) => group[0].i),
    time_ps: each((group) => group[0].row[0]),
    last_time_ps: each(last(({ row }) => row[0])),
    peak_row: each((group) => group.find((one) => heap(one) === most(heap)(group)).i),
    heap_last: each(last(heap)),
    stack_last: each(() => 0),
    stack_max: each(() => 0),
    free_last: each(last((one) => CAPACITY - heap(one))),
    used_min: each(least(heap)),
    used_max: each(most(heap)),
    fragmentation_min: each(least(share)),
    fragmentation_max: each(most(share)),
    fragmentation_last: each(last(share)),
  };
}

function state({ i, row }) {
  return {
    row: i,
    heap_bytes: row[1],
    stack_bytes: 0,
    free_bytes: CAPACITY - row[1],
    fragmentation: row[2] ?? 0.5,
  };
}

/** Many events: a saw with one spike that lasts for one event. */
export function sawRows(count, spikeAt) {
  return Array.from({ length: count }, (_, i) => [i, i === spikeAt ? 900 : 100 + (i % 7) * 10]);
}
