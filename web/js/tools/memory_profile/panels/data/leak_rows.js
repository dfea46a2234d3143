// @ts-check
// What each op still holds at the end of each step, as rows of a table, and the allocations behind one of them. Pure.
import { column } from "../../../../base/column.js";

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
  column("op", "Op Name", "op", (row) => row.op, { csv: "OpName" }),
  column("slope", "Growth / step", "size", (row) => row.slope, {
    csv: "SlopeBytesPerStep",
    width: 112,
    title: "least-squares slope of what is held at the end of each step",
  }),
  column("strip", "End of each step", "strip", () => null, {
    width: [200, 1360, 134],
    title: "held at the end of each step: one bar a step, each row to its own scale; CSV has the figures",
    fixed: true,
  }),
  column("first", "First step", "size", (row) => row.atFirst, {
    csv: "HeldAtFirstStepEndBytes",
    width: [112, 1360, 98],
    scale: "held",
    title: "held at the end of the first step",
  }),
  column("last", "Last step", "size", (row) => row.atLast, {
    csv: "HeldAtLastStepEndBytes",
    width: [112, 1360, 98],
    scale: "held",
    title: "held at the end of the last step",
  }),
  column("held", "Never freed", "size", (row) => row.heldAtEnd, {
    csv: "HeldAtEndBytes",
    width: [112, 1360, 98],
    scale: "held",
    title:
      "allocated while the profiler watched, and not freed until it stopped: held at the end but not at the start",
  }),
  column("count", "Allocations", "count", (row) => row.heldCount, { csv: "HeldAtEndCount", width: [106, 1360, 92] }),
  column("growing", "Steps growing", "count", (row) => row.stepsGrowing, {
    csv: "StepsGrowing",
    width: [106, 1360, 0],
    title: "steps at whose end it held more than at the end of the one before",
  }),
  column("from", "First seen", "number", (row) => row.firstStep, {
    csv: "FirstStep",
    width: 84,
    title: "first step at whose end it held something",
  }),
  column("to", "Last seen", "number", (row) => row.lastStep, {
    csv: "LastStep",
    width: 84,
    title: "last step at whose end it held something",
  }),
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
