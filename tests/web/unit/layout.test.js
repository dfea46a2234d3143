import { test } from "node:test";
import assert from "node:assert/strict";
import { buildModel } from "../../../web/js/tools/memory_viewer/data/model.js";
import {
  barIndexAt,
  barIndexOf,
  dominantCategory,
  layoutBar,
  orderRows,
} from "../../../web/js/tools/memory_viewer/layout/bars.js";
import { sampleCurve } from "../../../web/js/tools/memory_viewer/layout/curve_samples.js";
import { range } from "../../../web/js/base/range.js";
import { sampleView } from "./sample_view.js";

const model = buildModel(sampleView());

test("bars: widths to scale, three orders", () => {
  const bar = layoutBar(model, orderRows(model, model.atPeak, "program"), 400);
  assert.deepEqual([...bar.edges], [0, 120, 180, 200, 280, 400]);
  assert.deepEqual([...orderRows(model, model.atPeak, "size")], [0, 4, 3, 1, 2]);
  assert.deepEqual([...orderRows(model, model.atPeak, "padding")], [1, 4, 3, 0, 2]);
});

test("bars: what is under a pixel is merged, said, and still found", () => {
  const bar = layoutBar(model, orderRows(model, model.atPeak, "size"), 6);
  assert.deepEqual(
    bar.groups.map((group) => group.end - group.first),
    [1, 1, 1, 2],
  );
  assert.equal(bar.merged, 2);
  assert.equal(bar.rows[barIndexAt(bar, 5.9)], 2);
  assert.equal(dominantCategory(model, bar, bar.groups[3]), 1);
});

test("bars: the ends", () => {
  const bar = layoutBar(model, model.atPeak, 400);
  assert.equal(barIndexAt(bar, 0), 0);
  assert.equal(barIndexAt(bar, 119.9), 0);
  assert.equal(barIndexAt(bar, 120), 1);
  assert.equal(barIndexAt(bar, 400), -1);
  assert.equal(barIndexAt(bar, -1), -1);
  assert.equal(barIndexAt(layoutBar(model, [], 400), 5), -1);
  assert.equal(barIndexOf(bar, 5), -1);
});

test("curve: every step when they fit, and no peak lost when they do not", () => {
  const few = sampleCurve(model.heap, model.unpaddedHeap, range(0, 6), 100);
  assert.deepEqual([...few[0]], [0, 1, 2, 3, 4, 5, 6]);
  assert.equal(few[2][6], 100, "the last step is held");
  const heap = new Float64Array(10001).fill(5);
  heap[7777] = 99;
  heap[7778] = 1;
  const many = sampleCurve(heap, heap, range(0, 10001), 100);
  assert.equal(many[0].length, 201);
  assert.ok(many[2].includes(99) && many[2].includes(1));
  for (let i = 1; i < many[0].length; i += 1) assert.ok(many[0][i] >= many[0][i - 1]);
});
