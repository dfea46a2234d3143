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
import { blockAt, buildBlocks } from "../../../web/js/tools/memory_viewer/layout/blocks.js";
import { rasterBlocks } from "../../../web/js/tools/memory_viewer/layout/raster.js";
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

test("blocks: temporary buffers where they lie and while they live", () => {
  const blocks = buildBlocks(model);
  assert.deepEqual([...blocks.row], [4, 3, 5], "larger ones first");
  assert.deepEqual([blocks.x0[0], blocks.x1[0], blocks.y0[0], blocks.y1[0]], [1, 4, 40, 100]);
  assert.equal(blocks.height, 110, "the allocation, not its buffers");
});

test("blocks: several allocations stand on each other", () => {
  const view = sampleView();
  view.buffers.allocation[5] = 4;
  view.allocations = { index: [3, 4], size_bytes: [110, 50], category: [4, 4], buffer_count: [2, 1] };
  const blocks = buildBlocks(buildModel(view));
  assert.deepEqual(blocks.lanes, [
    { allocation: 3, begin: 0, end: 110 },
    { allocation: 4, begin: 110, end: 160 },
  ]);
  assert.equal(blocks.y0[2], 110);
});

test("the smallest block under the cursor is found; a thin one is as thick as a pixel", () => {
  const blocks = buildBlocks(model);
  assert.equal(blocks.row[blockAt(blocks, 2, 50, 0.1, 1)], 4);
  assert.equal(blockAt(blocks, 5.5, 50, 0.1, 1), -1);
  assert.equal(blockAt(blocks, 6, 10, 0.1, 1), -1);
  assert.equal(blocks.row[blockAt(blocks, 6, 10, 4, 1)], 5);
  const view = sampleView();
  view.buffers.offset[3] = 40; // t1 shares addresses with t2, which is larger
  const shared = buildBlocks(buildModel(view));
  assert.equal(shared.row[blockAt(shared, 1.5, 50, 0.1, 1)], 3);
});

test("raster: blocks in their place, thin ones kept and counted, outside ones left out", () => {
  const blocks = buildBlocks(model);
  const styles = { fill: Uint32Array.of(1), edge: Uint32Array.of(1), ofBlock: new Uint8Array(3) };
  const target = { width: 6, height: 11, pixels: new Uint32Array(66) };
  const drawn = rasterBlocks(blocks, { x: range(0, 6), y: range(0, 110) }, target, styles);
  assert.deepEqual([drawn.visible, drawn.merged], [3, 0]);
  assert.equal(
    target.pixels.reduce((sum, pixel) => sum + pixel, 0),
    3 * 6 + 2 * 4 + 2 * 3,
  );
  assert.equal(target.pixels[1 * 6 + 1], 1, "t2 from offset 40 to 100");
  const small = { width: 1, height: 1, pixels: new Uint32Array(1) };
  assert.deepEqual(rasterBlocks(blocks, { x: range(0, 6), y: range(0, 110) }, small, styles).merged, 3);
  assert.equal(rasterBlocks(blocks, { x: range(5, 6), y: range(0, 110) }, target, styles).visible, 0);
});

test("raster: a block cut by the view stays inside the pixels", () => {
  const blocks = buildBlocks(model);
  const styles = { fill: Uint32Array.of(9), edge: Uint32Array.of(9), ofBlock: new Uint8Array(3) };
  const target = { width: 50, height: 50, pixels: new Uint32Array(2500), labelWidth: 10, labelHeight: 10 };
  const drawn = rasterBlocks(blocks, { x: range(2, 3), y: range(60, 70) }, target, styles);
  assert.deepEqual(drawn.large, [0]);
  assert.ok(target.pixels.every((pixel) => pixel === 9));
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
