import { test } from "node:test";
import assert from "node:assert/strict";
import { clampRange, niceStep, panRange, range, revealRange, ticks, zoomRange } from "../../../web/js/base/range.js";
import { byteLabels, byteTicks, toPixel } from "../../../web/js/base/axes.js";
import { parseZoom, stepTicks, zoomText } from "../../../web/js/tools/memory_viewer/layout/axes.js";
import { pickUnit } from "../../../web/js/base/format.js";

const FULL = range(0, 100);

test("zooming keeps the anchor where it is", () => {
  const view = zoomRange(FULL, 25, 0.5, FULL, 1);
  assert.deepEqual(view, range(12.5, 62.5));
  assert.equal(toPixel(25, view, 200), toPixel(25, FULL, 200));
});

test("zooming out ends at the full range, zooming in at the smallest span", () => {
  assert.deepEqual(zoomRange(range(40, 60), 50, 100, FULL, 1), FULL);
  assert.deepEqual(zoomRange(range(40, 60), 50, 0.001, FULL, 4), range(48, 52));
});

test("zooming out at an edge does not leave what there is", () => {
  assert.deepEqual(zoomRange(range(0, 20), 20, 2, FULL, 1), range(0, 40));
  assert.deepEqual(zoomRange(range(80, 100), 80, 2, FULL, 1), range(60, 100));
});

test("panning stops at the edges", () => {
  assert.deepEqual(panRange(range(10, 20), -50, FULL), range(0, 10));
  assert.deepEqual(panRange(range(10, 20), 500, FULL), range(90, 100));
});

test("a view larger than the data is cut to it", () => {
  assert.deepEqual(clampRange(range(-50, 300), FULL), FULL);
});

test("revealing moves only when it must", () => {
  assert.deepEqual(revealRange(range(10, 20), 12, 13, FULL), range(10, 20));
  assert.deepEqual(revealRange(range(10, 20), 50, 51, FULL), range(45.5, 55.5));
});

test("ticks are round", () => {
  assert.deepEqual([0.7, 1, 3, 12, 80].map(niceStep), [1, 1, 5, 20, 100]);
  assert.deepEqual(ticks(range(3, 27), 0, 10), [10, 20]);
  assert.deepEqual(stepTicks(range(0, 3), 900), [0, 1, 2, 3]);
  assert.deepEqual(
    byteTicks(range(0, 3 * 2 ** 30), 132, pickUnit(2 ** 30)),
    [0, 1, 2, 3].map((n) => n * 2 ** 30),
  );
  assert.deepEqual(ticks(range(0, 0), 5), []);
});

test("a value stands at its share of the axis", () => {
  assert.equal(toPixel(35, range(20, 80), 500), 125);
});

test("a zoom survives the address", () => {
  assert.equal(zoomText(range(1, 2.346), null), "1,2.35");
  assert.deepEqual(parseZoom(zoomText(range(1, 2), range(3, 4))), { x: range(1, 2), y: range(3, 4) });
  for (const text of [null, "", "1", "1,1", "2,1", "1,2,3", "1,2,4,3", "a,b", "1,2,3,4,5"])
    assert.equal(parseZoom(text), null, String(text));
});

test("labels of bytes stay short, however close one looks", () => {
  const longest = (r) => Math.max(...byteLabels(r, 240, "auto").map(({ text }) => text.length));
  assert.deepEqual(
    byteLabels(range(0, 16 * 2 ** 20), 132, "auto").map(({ text }) => text),
    ["0 MiB", "10 MiB"],
  );
  for (let wide = 64; wide < 2 ** 36; wide *= 2) {
    for (const begin of [0, 16658176, 15 * 2 ** 30]) {
      assert.ok(longest(range(begin, begin + wide)) <= 13, `${begin} ${wide}`);
    }
  }
});
