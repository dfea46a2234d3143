// Hosts side by side: rows, their order, and a bar for each or for some.
import assert from "node:assert/strict";
import test from "node:test";
import { barAt, barOf, lastLabelEnd, layBars } from "../../../web/js/base/across/bars.js";
import { acrossRows, comparedKinds, progressText, rowsOfKind } from "../../../web/js/base/across/rows.js";

const REPLY = {
  hosts: 3,
  read: 2,
  complete: false,
  strings: ["gpu", "host", "a", "b"],
  kinds: [
    { kind: "gpu", memories: 2, lowest_bytes: 5, highest_bytes: 9 },
    { kind: "host", memories: 1, lowest_bytes: 0, highest_bytes: 99 },
    { kind: "tpu", memories: 4, lowest_bytes: 0, highest_bytes: 90 },
  ],
  memories: { host: [2, 2, 3], memory_id: [0, 1, 0], kind: [0, 1, 0], peak_bytes: [5, 99, 9], step: [1, null, 2] },
};

test("rows with their names, in order or highest first", () => {
  const rows = acrossRows(REPLY);
  assert.deepEqual(
    rows.map(({ index, host, memory_id: id }) => [index, host, id]),
    [
      [0, "a", "gpu"],
      [1, "a", "host"],
      [2, "b", "gpu"],
    ],
  );
  assert.deepEqual(rowsOfKind(rows, 0, false).map((row) => row.host), ["a", "b"]);
  assert.deepEqual(rowsOfKind(rows, 0, true).map((row) => row.host), ["b", "a"]);
});

test("kinds of several memories, the widest first", () => {
  assert.deepEqual(comparedKinds(REPLY), [2, 0]);
});

test("how far it is", () => {
  assert.equal(progressText(REPLY, "host"), "2 of 3 hosts read");
  assert.equal(progressText({ ...REPLY, complete: true }, "host"), "");
});

const peaks = (...values) => values.map((peak_bytes) => ({ peak_bytes }));

test("a bar for each row where there is room, found under the mouse", () => {
  const bars = layBars(peaks(1, 2, 3), 60);
  assert.deepEqual(
    bars.map(({ x, width, at }) => [x, width, at]),
    [
      [0, 19, 0],
      [20, 19, 1],
      [40, 19, 2],
    ],
  );
  assert.equal(barAt(bars, 25)?.at, 1);
  assert.equal(barAt(bars, 61), null);
  assert.equal(barAt(bars, -1), null);
  assert.equal(barAt([], 1), null);
});

test("the last label ends below the last bar, or where it leaves the first one room", () => {
  const bars = layBars(peaks(1, 2, 3), 1000);
  assert.equal(bars[2].x + bars[2].width, 143);
  assert.equal(lastLabelEnd(bars, 40, 50), 143);
  assert.equal(lastLabelEnd(bars, 100, 110), 226);
});

test("more rows than pixels: the highest of its neighbours stands for them", () => {
  const bars = layBars(peaks(1, 9, 2, 3, 4, 8), 6);
  assert.deepEqual(
    bars.map(({ first, end, at }) => [first, end, at]),
    [
      [0, 2, 1],
      [2, 4, 3],
      [4, 6, 5],
    ],
  );
  assert.equal(barOf(bars, 4), bars[2]);
  assert.equal(bars.at(-1)?.end, 6, "none is left out");
});
