// @ts-check
// What each op still holds at the end of each step, as rows of a table. Pure.
import { column } from "../../../../base/column.js";
import { rowsOf } from "../../../../base/reply_rows.js";

/** A row for each op; `held_bytes` at the end of each step. */
export function leakRows({ growth, strings }) {
  return rowsOf(growth, strings, ["op"]).map((row) => ({ ...row, id: `op ${row.op}` }));
}

export const LEAK_COLUMNS = [
  column("op", "Op Name", "op", "op", { csv: "OpName" }),
  column("slope", "Growth / step", "size", "slope_bytes", {
    csv: "SlopeBytesPerStep",
    width: 112,
    title: "least-squares slope of what is held at the end of each step",
  }),
  column("strip", "End of each step", "strip", () => null, {
    width: [200, 1360, 134],
    title: "held at the end of each step: one bar a step, each row to its own scale; CSV has the figures",
    fixed: true,
  }),
  column("first", "First step", "size", (row) => row.held_bytes[0], {
    csv: "HeldAtFirstStepEndBytes",
    width: [112, 1360, 98],
    scale: "held",
    title: "held at the end of the first step",
  }),
  column("last", "Last step", "size", (row) => row.held_bytes.at(-1), {
    csv: "HeldAtLastStepEndBytes",
    width: [112, 1360, 98],
    scale: "held",
    title: "held at the end of the last step",
  }),
  column("held", "Never freed", "size", "held_at_end_bytes", {
    csv: "HeldAtEndBytes",
    width: [112, 1360, 98],
    scale: "held",
    title:
      "allocated while the profiler watched, and not freed until it stopped: held at the end but not at the start",
  }),
  column("count", "Allocations", "count", "held_at_end_count", { csv: "HeldAtEndCount", width: [106, 1360, 92] }),
  column("growing", "Steps growing", "count", "steps_growing", {
    csv: "StepsGrowing",
    width: [106, 1360, 0],
    title: "steps at whose end it held more than at the end of the one before",
  }),
  column("from", "First seen", "number", "first_step", {
    csv: "FirstStep",
    width: 84,
    title: "first step at whose end it held something",
  }),
  column("to", "Last seen", "number", "last_step", {
    csv: "LastStep",
    width: 84,
    title: "last step at whose end it held something",
  }),
];

/** The table's figures, and one column for each step. */
export function leakCsvColumns({ steps }) {
  const byStep = steps.step.map((step, i) => ({
    csv: `HeldAtEndOfStep${step}Bytes`,
    value: (row) => row.held_bytes[i],
  }));
  return [...LEAK_COLUMNS.filter((column) => column.csv), ...byStep];
}

/** "26 ops hold 96 MiB …": what is held at the end but not at the start. */
export function heldTotals(rows) {
  const holding = rows.filter((row) => row.held_at_end_bytes > 0);
  return {
    ops: holding.length,
    bytes: holding.reduce((sum, row) => sum + row.held_at_end_bytes, 0),
    count: holding.reduce((sum, row) => sum + row.held_at_end_count, 0),
  };
}

/** What all ops together hold at the end of each step. */
export function heldPerStep(rows, steps) {
  return Array.from({ length: steps }, (_, i) => rows.reduce((sum, row) => sum + row.held_bytes[i], 0));
}
