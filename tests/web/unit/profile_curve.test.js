import { test } from "node:test";
import assert from "node:assert/strict";
import { buildCurve, isExactIn, tellAt } from "../../../web/js/tools/memory_profile/data/curve.js";
import { createColumns, fillColumns } from "../../../web/js/tools/memory_profile/layout/columns.js";
import { range } from "../../../web/js/base/range.js";
import { sawRows, timelineReply } from "./sample_timeline.js";

const FEW = [
  [100, 10],
  [300, 40],
  [300, 60],
  [700, 20],
];
const columnsOf = (curves, view, count) => fillColumns(createColumns(count), curves, view);

test("between events the state after the one before holds; before the first nothing is known", () => {
  const curve = buildCurve(timelineReply(FEW));
  assert.equal(tellAt(curve, 50), null);
  assert.deepEqual([tellAt(curve, 100).used, tellAt(curve, 299).used], [10, 10]);
  assert.deepEqual([tellAt(curve, 300).row, tellAt(curve, 300).used], [2, 60], "of two at once, the later");
  assert.equal(tellAt(curve, 999).free, 980);
  assert.equal(tellAt(curve, 1000), null, "past the window");
});

test("amid a bucket the highest event is told, after it the last", () => {
  const curve = buildCurve(timelineReply(FEW, { buckets: 1 }));
  assert.ok(!curve.isExact);
  assert.deepEqual([tellAt(curve, 500).row, tellAt(curve, 500).used, tellAt(curve, 500).amid], [2, 60, 4]);
  assert.deepEqual([tellAt(curve, 800).row, tellAt(curve, 800).used, tellAt(curve, 800).amid], [3, 20, 0]);
});

test("an event that told no state leaves the one before it", () => {
  const reply = timelineReply(FEW);
  for (const key of ["heap_last", "stack_last", "free_last", "used_min", "used_max", "stack_max"])
    reply[key][3] = null;
  const curve = buildCurve(reply);
  assert.equal(tellAt(curve, 800).used, 60);
  const columns = columnsOf([curve], range(0, 1000), 10);
  assert.deepEqual([columns.usedMin[7], columns.usedMax[9]], [60, 60]);
});

test("a column has the lowest and the highest of what happened in it, and what held when it began", () => {
  const columns = columnsOf([buildCurve(timelineReply(FEW))], range(0, 1000), 5);
  assert.deepEqual([...columns.usedMin], [10, 10, 60, 20, 20]);
  assert.deepEqual([...columns.usedMax], [10, 60, 60, 60, 20]);
  assert.deepEqual([...columns.top], [1000, 1000, 1000, 1000, 1000]);
});

test("nothing is drawn before the first event", () => {
  const columns = columnsOf([buildCurve(timelineReply(FEW))], range(0, 1000), 20);
  assert.ok(Number.isNaN(columns.usedMax[0]) && Number.isNaN(columns.usedMax[1]));
  assert.equal(columns.usedMax[2], 10);
});

test("no spike disappears, however far the view is zoomed out", () => {
  const rows = sawRows(100000, 54321);
  const coarse = buildCurve(timelineReply(rows, { to: 100000, buckets: 1000 }));
  for (const width of [1000, 700, 120, 7]) {
    const columns = columnsOf([coarse], range(0, 100000), width);
    assert.equal(Math.max(...columns.usedMax), 900, `${width} columns`);
    assert.equal(columns.usedMax.indexOf(900), Math.floor((54321 / 100000) * width));
  }
});

test("a finer answer wins where it reaches, the coarse one fills the rest", () => {
  const rows = sawRows(10000, 5005);
  const coarse = buildCurve(timelineReply(rows, { to: 10000, buckets: 10 }));
  const fine = buildCurve(timelineReply(rows, { from: 5000, to: 5100, buckets: 200 }));
  assert.ok(isExactIn(fine, range(5010, 5090)) && !isExactIn(coarse, range(5010, 5090)));
  const columns = columnsOf([coarse, fine], range(4900, 5100), 200);
  assert.equal(columns.usedMax[105], 900);
  assert.ok(columns.usedMax[104] < 200, "the coarse bucket would show the spike in all its columns");
  assert.equal(columns.usedMax[60], 160, "before the fine window: the coarse one's highest");
});

test("a window begins with the state that held before it", () => {
  const curve = buildCurve(timelineReply(FEW, { from: 400, to: 600 }));
  assert.equal(tellAt(curve, 450).used, 60);
  assert.equal(tellAt(curve, 450).row, 2);
  assert.equal(columnsOf([curve], range(400, 600), 4).usedMax[0], 60);
});

test("a fragmentation that is no number is a gap", () => {
  const reply = timelineReply([
    [100, 10, 0.25],
    [500, 990, 0.5],
  ]);
  reply.fragmentation_min[1] = null;
  reply.fragmentation_max[1] = null;
  reply.fragmentation_last[1] = null;
  const columns = columnsOf([buildCurve(reply)], range(0, 1000), 10);
  assert.deepEqual([columns.fragmentationMin[3], columns.fragmentationMax[3]], [0.25, 0.25]);
  assert.ok(Number.isNaN(columns.fragmentationMax[7]));
});
