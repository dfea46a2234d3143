// The Compare tool: which two programs, rows of what changed, curves over relative program order.
import { test } from "node:test";
import assert from "node:assert/strict";
import {
  bufferRows,
  categoryRows,
  groupRows,
  keptBuffers,
  percentOf,
  signed,
} from "../../../web/js/tools/compare/data/changes.js";
import { foretoldRows } from "../../../web/js/tools/compare/data/foretold.js";
import { chooseModule, largestFirst, otherSession, swapped } from "../../../web/js/tools/compare/data/pair.js";
import { curveOf, valueAt } from "../../../web/js/tools/compare/layout/curves.js";

const module = (name, peak) => ({ name, memory_spaces: [{ space: 0, peak_bytes: peak }] });
const MODULES = [module("jit_a(1)", 5), module("jit_b(2)", 9), { name: "jit_c(3)" }];

test("the module that is named, else one called alike, else the largest", () => {
  assert.deepEqual(
    largestFirst(MODULES).map(({ name }) => name),
    ["jit_b(2)", "jit_a(1)", "jit_c(3)"],
  );
  assert.equal(chooseModule(MODULES, "jit_c(3)").name, "jit_c(3)");
  assert.equal(chooseModule(MODULES, "jit_d(1)"), null);
  assert.equal(chooseModule(MODULES, null).name, "jit_b(2)");
  assert.equal(chooseModule(MODULES, null, "jit_a(1)").name, "jit_a(1)");
  assert.equal(chooseModule(MODULES, null, "jit_a(77)").name, "jit_a(1)");
  assert.equal(chooseModule(MODULES, null, "jit_z(1)").name, "jit_b(2)");
  assert.equal(chooseModule([], null), null);
});

test("the other session is the one with a like name", () => {
  assert.equal(otherSession(["tf", "gpt_small", "gpt", "gpt_large"], "gpt"), "gpt_small");
  assert.equal(otherSession(["gpt"], "gpt"), "gpt");
});

test("swapping gives each side the other's place", () => {
  const a = { session: "s", module: "m", host: "h" };
  const b = { session: "t", module: "n", host: null };
  assert.deepEqual(swapped({ a, b }), {
    ...{ run: "t", module_name: "n", host: null },
    ...{ run_b: "s", module_b: "m", host_b: "h" },
  });
});

const side = (name, size, more = {}) => ({
  ...{ name, size_bytes: size, shape: "f32[8]", source: "gpt.py:5", category: "temporary", op_name: "jit(f)/add" },
  ...{ key: "gpt.py:5", ...more },
});
const change = (kind, a, b, isAlias = false) => ({
  ...{ change: kind, a, b, is_alias: isAlias },
  delta_bytes: (b?.size_bytes ?? 0) - (a?.size_bytes ?? 0),
});
const REPLY = {
  a: { total_allocation_bytes: 130, fragmentation_bytes: 10 },
  b: { total_allocation_bytes: 70, fragmentation_bytes: 10 },
  categories: { rows: [{ key: "temporary", a_bytes: 130, b_bytes: 70 }] },
  groups: {
    rows: [
      { key: "gpt.py:7", a_key: "gpt.py:5", a_bytes: 90, b_bytes: 30, delta_bytes: -60, a_buffers: 3, b_buffers: 1 },
      { key: "gpt.py:9", a_key: "gpt.py:9", a_bytes: 0, b_bytes: 5, delta_bytes: 5, a_buffers: 0, b_buffers: 1 },
    ],
  },
  buffers: {
    rows: [
      change("lost", side("x.1", 30), null),
      change("gained", null, side("y", 5, { source: "gpt.py:9", key: "gpt.py:9" })),
      change("lost", side("x.2", 30), null),
      change("lost", side("out", 30, { category: "output" }), null, true),
      change("grown", side("z", 10), side("z", 20, { shape: "f32[16]", key: "gpt.py:7" })),
    ],
  },
};

test("a line that moved says where it was", () => {
  const [moved, same] = groupRows(REPLY);
  assert.equal(moved.key, "gpt.py:7 (was gpt.py:5)");
  assert.deepEqual([moved.before, moved.after, moved.delta, moved.buffers], [90, 30, -60, "3 → 1"]);
  assert.equal(same.key, "gpt.py:9");
});

test("categories end with the total and what is not in the peak", () => {
  const rows = categoryRows(REPLY).map(({ key, delta }) => [key, delta]);
  assert.deepEqual(rows, [
    ["temporary", -60],
    ["total", -60],
    ["not in the peak", 0],
  ]);
});

test("equal changes are one row, with their sum", () => {
  const rows = bufferRows(REPLY);
  assert.equal(rows.length, 4);
  assert.deepEqual([rows[0].count, rows[0].delta, rows[0].name], [2, -60, "x.1 and 1 alike"]);
  assert.equal(rows[2].change, "now an alias");
  assert.deepEqual([rows[3].name, rows[3].shape, rows[3].delta], ["z", "f32[8] → f32[16]", 10]);
  const sum = rows.reduce((bytes, row) => bytes + row.delta, 0);
  assert.equal(
    sum,
    REPLY.buffers.rows.reduce((bytes, row) => bytes + row.delta_bytes, 0),
  );
});

test("buffers of the pinned group, on either side, that the search finds", () => {
  const rows = bufferRows(REPLY);
  assert.deepEqual(
    keptBuffers(rows, "", { a: "gpt.py:5", b: "gpt.py:7" }).map(({ id }) => id),
    [0, 2, 3],
  );
  assert.deepEqual(
    keptBuffers(rows, " F32[16] ", null).map(({ id }) => id),
    [3],
  );
  assert.equal(keptBuffers(rows, "nothing", null).length, 0);
});

test("what was foretold, the nearest to what is first", () => {
  const change = (id, applies, predicted) => ({
    ...{ id, applies, name: id, predicted_total_bytes: predicted },
    ...{ low_bytes: predicted - 5, high_bytes: predicted + 5 },
  });
  const interventions = [change("far", true, 10), change("near", true, 48), change("never", false, 50)];
  const rows = foretoldRows({ interventions }, 50);
  assert.deepEqual(
    rows.map(({ title, delta, verdict }) => [title, delta, verdict]),
    [
      ["Near", 2, "as foretold"],
      ["Far", 40, "above the range"],
    ],
  );
});

test("signs and shares", () => {
  assert.equal(signed(-5, "5 B"), "\u22125 B");
  assert.equal(signed(5, "5 B"), "+5 B");
  assert.equal(signed(0, "0 B"), "0 B");
  assert.equal(percentOf(200, -50), "\u221225.0 %");
  assert.equal(percentOf(0, 7), "");
});

test("a curve of any length goes from 0 to 1 and keeps its peak", () => {
  const program = { steps: 4, step: [0, 1, 2, 3, 4], heap_bytes: [0, 10, 30, 20, 0] };
  const curve = curveOf({ program, totals: { peak_bytes: 30, peak_position: 1 } });
  assert.deepEqual(curve.x, [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual([curve.peakX, curve.peakBytes], [0.5, 30]);
  assert.deepEqual(valueAt(curve, 0.6), { bytes: 30, step: 2 });
  assert.deepEqual(valueAt(curve, 1), { bytes: 0, step: 3 });
  const flat = curveOf({ program: { steps: 0, step: [], heap_bytes: [] }, totals: { peak_bytes: 7 } });
  assert.deepEqual(valueAt(flat, 0.3), { bytes: 7, step: 0 });
});
