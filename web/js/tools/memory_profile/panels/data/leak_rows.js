// @ts-check
// What each op still holds at the end of each step, as rows of a table, and the allocations behind one of them. Pure.

/**
 * @typedef {{id: string, op: string, held: number[], slope: number, isLeak: boolean, stepsGrowing: number,
 *            firstStep: number, lastStep: number, atFirst: number | null, atLast: number | null, heldAtEnd: number,
 *            heldCount: number}} LeakRow
 */

/** @returns {LeakRow[]} */
export function leakRows({ growth, strings }) {
  return growth.op.map((op, i) => {
    const held = growth.held_bytes[i];
    return {
      id: `op ${op}`,
      op: strings[op],
      held,
      slope: growth.slope_bytes[i],
      isLeak: growth.is_leak?.[i] ?? false,
      stepsGrowing: growth.steps_growing[i],
      firstStep: growth.first_step[i],
      lastStep: growth.last_step[i],
      atFirst: held.length ? held[0] : null,
      atLast: held.length ? held[held.length - 1] : null,
      heldAtEnd: growth.held_at_end_bytes[i],
      heldCount: growth.held_at_end_count[i],
    };
  });
}

export const LEAK_COLUMNS = [
  { key: "op", label: "Op Name", csv: "OpName", kind: "op", value: (row) => row.op },
  {
    key: "slope",
    label: "Growth / step",
    csv: "SlopeBytesPerStep",
    kind: "size",
    title: "least-squares slope of what is held at the end of each step",
    value: (row) => row.slope,
  },
  {
    key: "strip",
    label: "End of each step",
    kind: "strip",
    title: "held at the end of each step: one bar a step, each row to its own scale; CSV has the figures",
    fixed: true,
    value: () => null,
  },
  {
    key: "first",
    label: "First step",
    csv: "HeldAtFirstStepEndBytes",
    kind: "size",
    scale: "held",
    title: "held at the end of the first step",
    value: (row) => row.atFirst,
  },
  {
    key: "last",
    label: "Last step",
    csv: "HeldAtLastStepEndBytes",
    kind: "size",
    scale: "held",
    title: "held at the end of the last step",
    value: (row) => row.atLast,
  },
  {
    key: "held",
    label: "Never freed",
    csv: "HeldAtEndBytes",
    kind: "size",
    scale: "held",
    title:
      "allocated while the profiler watched, and not freed until it stopped: held at the end but not at the start",
    value: (row) => row.heldAtEnd,
  },
  { key: "count", label: "Allocations", csv: "HeldAtEndCount", kind: "count", value: (row) => row.heldCount },
  {
    key: "growing",
    label: "Steps growing",
    csv: "StepsGrowing",
    kind: "count",
    title: "steps at whose end it held more than at the end of the one before",
    value: (row) => row.stepsGrowing,
  },
  {
    key: "from",
    label: "First seen",
    csv: "FirstStep",
    kind: "number",
    title: "first step at whose end it held something",
    value: (row) => row.firstStep,
  },
  {
    key: "to",
    label: "Last seen",
    csv: "LastStep",
    kind: "number",
    title: "last step at whose end it held something",
    value: (row) => row.lastStep,
  },
];

/** The table's figures, and one column for each step. */
export function leakCsvColumns({ steps }) {
  const byStep = steps.step.map((step, i) => ({ csv: `HeldAtEndOfStep${step}Bytes`, value: (row) => row.held[i] }));
  return [...LEAK_COLUMNS.filter((column) => column.csv), ...byStep];
}

/** "26 ops hold 96 MiB …": what is held at the end but not at the start. */
export function heldTotals(rows) {
  const holding = rows.filter((row) => row.heldAtEnd > 0);
  return {
    ops: holding.length,
    bytes: holding.reduce((sum, row) => sum + row.heldAtEnd, 0),
    count: holding.reduce((sum, row) => sum + row.heldCount, 0),
  };
}

/** What all ops together hold at the end of each step. */
export function heldPerStep(rows, steps) {
  return Array.from({ length: steps }, (_, i) => rows.reduce((sum, row) => sum + row.held[i], 0));
}

/** The allocations of a reply of /held (columns as in /events). */
export function heldAllocations(reply, op) {
  const { strings } = reply;
  return reply.row.map((row, i) => ({
    id: `event ${row}`,
    op,
    row,
    timePs: reply.time_ps[i],
    step: reply.step[i],
    allocated: reply.allocated_bytes[i],
    what: [strings[reply.data_type[i]], strings[reply.shape[i]], strings[reply.region_type[i]]]
      .filter(Boolean)
      .join(" "),
    address: reply.address[i],
  }));
}
