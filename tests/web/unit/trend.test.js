// The pure parts of "Over sessions": points of a reply, where they lead, bars.
import { test } from "node:test";
import assert from "node:assert/strict";
import {
  comparisonOf,
  csvColumnsOf,
  neighbour,
  pointAt,
  pointsOf,
  viewOf,
} from "../../../web/js/tools/trend/data/points.js";
import { barAt, indexAt, labelledPoints, partsOf } from "../../../web/js/tools/trend/layout/bars.js";

const REPLY = {
  tool: "memory_viewer",
  points: {
    session: ["a", "b", "c"],
    file: [null, null, null],
    time_s: [0, 86400, 172800],
    state: ["ready", "absent", "ready"],
    reason: [null, "It is not here.", null],
    host: ["vm", "", "vm"],
    name: ["jit_f(1)", null, "jit_f(7)"],
    of: [1, 0, 1],
    peak_bytes: [100, null, 300],
    peak_delta_bytes: [null, null, 200],
    total_allocation_bytes: [110, null, 330],
  },
  lines: {
    key: ["x.py:1", "params"],
    bytes: [
      [0, null, 250],
      [60, null, 0],
    ],
    rest_bytes: [40, null, 50],
  },
};

test("points know what holds most, and the known one before", () => {
  const points = pointsOf(REPLY);
  assert.deepEqual(
    points.map(({ told }) => told),
    ["params", "It is not here.", "x.py:1"],
  );
  assert.equal(points[2].before, points[0]);
  assert.equal(points[0].before, null);
  assert.equal(pointAt(points, "c"), points[2]);
  assert.equal(pointAt(points, "nope"), null);
});

test("the arrows go over what is not known, and stop at the ends", () => {
  const points = pointsOf(REPLY);
  assert.equal(neighbour(points, null, 1), points[2]);
  assert.equal(neighbour(points, points[2], -1), points[0]);
  assert.equal(neighbour(points, points[0], 1), points[2]);
  assert.equal(neighbour(points, points[0], -1), points[0]);
  assert.equal(neighbour([], null, 1), null);
});

test("a point leads to its view, and to what changed since the one before", () => {
  const [first, , last] = pointsOf(REPLY);
  assert.deepEqual(viewOf(last, "memory_viewer", 0), {
    tag: "memory_viewer",
    run: "c",
    host: "vm",
    module_name: "jit_f(7)",
    memory_space: null,
  });
  assert.equal(comparisonOf(first, 0), null);
  const compared = comparisonOf(last, 1);
  assert.deepEqual(
    [compared.run, compared.module_name, compared.run_b, compared.module_b, compared.memory_space],
    ["a", "jit_f(1)", "c", "jit_f(7)", "1"],
  );
});

test("CSV has each line in a column, and nothing where nothing is known", () => {
  const columns = csvColumnsOf(REPLY);
  const [first, absent] = pointsOf(REPLY);
  const row = (point) => Object.fromEntries(columns.map((one) => [one.csv, one.value(point)]));
  assert.equal(row(first)["params"], 60);
  assert.equal(row(first)["rest"], 40);
  assert.equal(row(absent)["params"], null);
  assert.equal(row(absent)["state"], "absent");
});

test("bars lie in equal parts, and a place is in one of them", () => {
  for (const [count, width] of [
    [1, 800],
    [7, 800],
    [3000, 800],
  ]) {
    for (const index of [0, count >> 1, count - 1]) {
      const { x0, x1, middle } = barAt(index, count, width);
      assert.ok(x1 - x0 >= 1 || count > width);
      assert.ok(x1 > x0 && x0 < middle && middle < x1);
      assert.equal(indexAt(middle, count, width), index);
    }
  }
  assert.equal(indexAt(-1, 3, 100), null);
  assert.equal(indexAt(100, 3, 100), null);
  assert.equal(indexAt(5, 0, 100), null);
});

test("a bar's parts stand on each other up to the peak", () => {
  const [first, , last] = pointsOf(REPLY);
  assert.deepEqual(partsOf(first), [
    { begin: 0, end: 60, line: 1 },
    { begin: 60, end: 100, line: -1 },
  ]);
  assert.equal(partsOf(last).at(-1)?.end, 300);
});

test("labels have room", () => {
  assert.deepEqual(labelledPoints(4, 800, 140), [0, 1, 2, 3]);
  assert.deepEqual(labelledPoints(100, 800, 140).slice(0, 2), [0, 18]);
  assert.deepEqual(labelledPoints(0, 800, 140), []);
});
