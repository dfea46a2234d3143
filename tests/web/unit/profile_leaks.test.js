import { test } from "node:test";
import assert from "node:assert/strict";
import { csvText } from "../../../web/js/base/csv.js";
import {
  LEAK_COLUMNS,
  heldPerStep,
  heldTotals,
  leakCsvColumns,
  leakRows,
} from "../../../web/js/tools/memory_profile/panels/data/leak_rows.js";
import { stepBars } from "../../../web/js/tools/memory_profile/panels/layout/step_bars.js";

const reply = {
  strings: ["leaks/Copy", "steady", "churn"],
  steps: { step: [3, 4, 5], name: ["train 3", "train 4", "train 5"] },
  growth: {
    op: [0, 1, 2],
    held_bytes: [
      [10, 20, 30],
      [7, 7, 7],
      [0, 5, 0],
    ],
    slope_bytes: [10, 0, 0],
    first_step: [3, 3, 4],
    last_step: [5, 5, 4],
    steps_growing: [2, 0, 1],
    held_at_end_bytes: [30, 7, 0],
    held_at_end_count: [3, 1, 0],
  },
};

const shown = (row, key) => LEAK_COLUMNS.find((column) => column.key === key).value(row);

test("what each op holds, what all hold, and what is never freed", () => {
  const rows = leakRows(reply);
  assert.deepEqual(["op", "slope", "first", "last"].map((key) => shown(rows[0], key)), ["leaks/Copy", 10, 10, 30]);
  assert.deepEqual(heldPerStep(rows, 3), [17, 32, 37]);
  assert.deepEqual(heldTotals(rows), { ops: 2, bytes: 37, count: 4 });
});

test("a profile without steps has no first and no last figure", () => {
  const growth = { ...reply.growth, held_bytes: [[], [], []] };
  const [row] = leakRows({ ...reply, growth });
  assert.deepEqual([shown(row, "first"), shown(row, "last")], [undefined, undefined]);
  assert.deepEqual(heldPerStep([row], 0), []);
});

test("CSV has a column for each step, named by its number", () => {
  const lines = csvText(leakCsvColumns(reply), leakRows(reply)).split("\n");
  assert.match(lines[0], /HeldAtEndOfStep3Bytes,HeldAtEndOfStep4Bytes,HeldAtEndOfStep5Bytes$/);
  assert.match(lines[1], /^leaks\/Copy,10,10,30,30,3,2,3,5,10,20,30$/);
});

test("more steps than room: a bar of several tells the last of them", () => {
  assert.deepEqual(
    stepBars([1, 2, 3], 10, 60).map((bar) => bar.value),
    [1, 2, 3],
  );
  assert.deepEqual(stepBars([1, 2, 3, 4, 5], 2, 10), [
    { first: 0, last: 2, value: 3, height: 6 },
    { first: 3, last: 4, value: 5, height: 10 },
  ]);
  assert.deepEqual(stepBars([], 10, 60), []);
});

test("the largest bar is full, nothing is none, and what is there can be seen", () => {
  assert.deepEqual(
    stepBars([1, 1000, 0], 3, 50).map((bar) => bar.height),
    [1, 50, 0],
  );
});
