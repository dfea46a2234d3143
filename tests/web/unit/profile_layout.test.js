import { test } from "node:test";
import assert from "node:assert/strict";
import { range } from "../../../web/js/base/range.js";
import { formatDuration, formatMs, msDigits } from "../../../web/js/base/time_text.js";
import { rasterAreas } from "../../../web/js/tools/memory_profile/layout/area_raster.js";
import { createColumns } from "../../../web/js/tools/memory_profile/layout/columns.js";
import {
  bandAt,
  bandsOf,
  boxesIn,
  lanesOf,
  timeTicks,
  usualHeights,
} from "../../../web/js/tools/memory_profile/layout/frame.js";

const [BG, STACK, HEAP, BAND, LINE, FREE, SHARE] = [1, 2, 3, 4, 5, 6, 7];
const SHADED = 10; // more than the plain one
const PLAIN = { background: BG, stack: STACK, heap: HEAP, band: BAND, free: FREE };
const INKS = {
  plain: PLAIN,
  shaded: Object.fromEntries(Object.entries(PLAIN).map(([name, ink]) => [name, ink + SHADED])),
  line: LINE,
  fragmentation: SHARE,
};

function rastered(values, height = 10) {
  const columns = createColumns(values.length);
  const facts = ["usedMin", "usedMax", "stack", "top", "fragmentationMin", "fragmentationMax"];
  values.forEach((value, c) => facts.forEach((fact) => (columns[fact][c] = value[fact] ?? NaN)));
  const target = { width: values.length, height, pixels: new Uint32Array(values.length * height), ratio: 1 };
  rasterAreas(columns, range(0, 100), target, INKS);
  return (c) => Array.from({ length: height }, (_, row) => target.pixels[row * values.length + c]);
}

test("stack, heap and free stand upon each other, with a line at what is used", () => {
  const column = rastered([{ usedMin: 60, usedMax: 60, stack: 20, top: 100 }]);
  assert.deepEqual(column(0), [FREE, FREE, FREE, FREE, LINE, HEAP, HEAP, HEAP, STACK, STACK]);
});

test("what was both is paler, nothing known is left bare", () => {
  const column = rastered([{ usedMin: 20, usedMax: 60, stack: 0, top: 80 }, {}]);
  assert.deepEqual(column(0), [BG, BG, FREE, FREE, LINE, BAND, BAND, BAND, HEAP, HEAP]);
  assert.deepEqual(column(1), Array(10).fill(BG));
});

test("a use too small for a pixel still has its line", () => {
  const column = rastered([{ usedMin: 0.01, usedMax: 0.01, stack: 0, top: 100 }]);
  assert.deepEqual(column(0), [...Array(9).fill(FREE), LINE]);
});

test("what is above the view is filled, without a line at its edge", () => {
  const column = rastered([{ usedMin: 300, usedMax: 400, stack: 0, top: 500 }]);
  assert.deepEqual(column(0), Array(10).fill(HEAP));
});

test("fragmentation is dashed at its highest, what it ranges over is shaded", () => {
  const one = { usedMin: 40, usedMax: 40, stack: 0, top: 100, fragmentationMin: 0.25, fragmentationMax: 0.75 };
  const column = rastered(Array(8).fill(one));
  const thick = [SHARE, SHARE];
  assert.deepEqual(column(0), [FREE, FREE, ...thick, FREE + SHADED, FREE + SHADED, LINE, HEAP, HEAP, HEAP]);
  assert.deepEqual(column(6).slice(2, 4), [FREE + SHADED, FREE + SHADED], "between two dashes");
});

test("bands narrower than a pixel are merged, the others are not", () => {
  const bands = bandsOf(Array.from({ length: 1000 }, (_, i) => ({ name: `${i}`, begin_ps: i, end_ps: i + 1 })));
  const far = boxesIn(bands, range(0, 1000), 100);
  assert.ok(far.length <= 101 && far.length >= 50);
  assert.equal(
    far.reduce((sum, box) => sum + 1 + box.merged, 0),
    1000,
  );
  const near = boxesIn(bands, range(10.5, 13.5), 300);
  assert.deepEqual(
    near.map((box) => box.index),
    [10, 11, 12, 13],
  );
  assert.deepEqual([near[0].x0, near[0].x1, near[3].x1], [0, 50, 300]);
});

test("bands are found by time, within a pixel", () => {
  const bands = bandsOf([
    { name: "b", begin_ps: 50, end_ps: 60 },
    { name: "a", begin_ps: 10, end_ps: 20 },
  ]);
  assert.deepEqual(
    [bands.name, bands.source],
    [
      ["a", "b"],
      [1, 0],
    ],
  );
  assert.deepEqual([bandAt(bands, 15), bandAt(bands, 20), bandAt(bands, 55), bandAt(bands, 5)], [0, -1, 1, -1]);
  assert.equal(bandAt(bands, 61, 2), 1);
});

test("a lane for the steps and one for each device", () => {
  const runs = [{ name: "f", device: 1, begin_ps: 0, end_ps: 1 }];
  const lanes = lanesOf([{ name: "", step: 1, begin_ps: 0, end_ps: 1 }], runs, ["TPU:0", "TPU:1"]);
  assert.deepEqual(lanes[0].bands.name, ["1"]);
  assert.deepEqual(
    lanes.map((lane) => [lane.label, lane.bands.count]),
    [
      ["Steps", 1],
      ["TPU:0", 0],
      ["TPU:1", 1],
    ],
  );
});

test("the height is the capacity's when a fair part of it is in use", () => {
  const little = usualHeights([{ peak_bytes: 7, capacity_bytes: 64000 }]);
  assert.equal(little.usual, little.use);
  const much = usualHeights([{ peak_bytes: 40000, capacity_bytes: 64000 }]);
  assert.equal(much.usual, much.all);
  const untold = usualHeights([{ peak_bytes: null, capacity_bytes: null }]);
  assert.ok(untold.usual.end > 0);
});

test("times are told as finely as the ticks lie apart", () => {
  assert.deepEqual([msDigits(1e9), msDigits(2e8), msDigits(5e3), msDigits(1)], [0, 1, 6, 9]);
  const { step, at } = timeTicks(range(0, 78e9), 960);
  assert.equal(step, 10e9);
  assert.deepEqual(at.slice(0, 3), [0, 10e9, 20e9]);
  assert.equal(formatMs(38404225000), "38.404 ms");
  assert.deepEqual(
    [formatDuration(1.25e12), formatDuration(830000), formatDuration(0)],
    ["1.25 s", "830 ns", "0 ps"],
  );
});
