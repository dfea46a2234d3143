import { test } from "node:test";
import assert from "node:assert/strict";
import {
  eventsAround,
  largestFree,
  momentRows,
  requestSentence,
  windowOf,
} from "../../../web/js/tools/memory_profile/panels/data/pressure.js";
import { freeSteps, stepAt } from "../../../web/js/tools/memory_profile/panels/layout/free_curve.js";
import { freeHeights } from "../../../web/js/tools/memory_profile/panels/layout/free_frame.js";

const GIB = 2 ** 30;

test("the largest free block: free x (1 - fragmentation); of what is free in untold pieces it is unknown", () => {
  assert.equal(largestFree(4 * GIB, 0.25), 3 * GIB);
  assert.equal(largestFree(0, null), 0);
  assert.equal(largestFree(GIB, null), null);
  assert.match(requestSentence(GIB, null, "auto"), /did not tell/);
});

test("what a request meets, in a sentence", () => {
  assert.equal(
    requestSentence(4 * GIB, 1.5 * GIB, "auto"),
    "a request above 1.50 GiB fails here although 4.00 GiB are free.",
  );
  assert.match(requestSentence(0, 0, "auto"), /^nothing is free here/);
  assert.match(requestSentence(GIB, GIB, "auto"), /one block/);
});

const tightest = { row: 8, time_ps: 80, free_bytes: 4, largest_free_bytes: 1, fragmentation: 0.75 };
const stall = {
  ...tightest,
  row: 5,
  time_ps: 50,
  until_ps: 60,
  kind: "stall",
  request_bytes: 3,
  step: 1,
  text: "why",
};

test("moments stand in time order, the tightest once", () => {
  assert.deepEqual(
    momentRows({ tightest, moments: [stall] }).map((row) => row.what),
    ["failed request", "tightest moment"],
  );
  assert.equal(momentRows({ tightest: { ...tightest, row: 5 }, moments: [stall] }).length, 1);
  assert.deepEqual(momentRows({ tightest: null, moments: [] }), []);
});

test("a moment is looked at with how it came about; a long stall does not push that to the edge", () => {
  assert.deepEqual(eventsAround({ row: 5 }, 40), { first: 0, last: 39 });
  assert.deepEqual(eventsAround({ row: 500 }, 40000), { first: 300, last: 560 });
  const moment = { time_ps: 50000 };
  assert.deepEqual(windowOf(moment, 30000, 1e13), { from: 30000, to: 58000 });
  assert.deepEqual(windowOf(moment, 30000, 52000), { from: 30000, to: 52000 });
  assert.deepEqual(windowOf({ time_ps: 0 }, 0, 0), { from: 0, to: 1000 });
});

function timeline(patch) {
  return {
    from_ps: 0,
    to_ps: 100,
    before: null,
    time_ps: [],
    last_time_ps: [],
    free_min: [],
    free_last: [],
    largest_free_min: [],
    fragmentation_last: [],
    ...patch,
  };
}

test("free memory in steps: before, within a bucket its least, after it what it left", () => {
  const steps = freeSteps(
    timeline({
      before: { free_bytes: 100, fragmentation: 0.5 },
      time_ps: [10, 40],
      last_time_ps: [20, 40],
      free_min: [60, 90],
      free_last: [80, 90],
      largest_free_min: [6, 90],
      fragmentation_last: [0.25, 0],
    }),
  );
  assert.deepEqual(
    steps.map(({ x0, x1, free, largest }) => [x0, x1, free, largest]),
    [
      [0, 10, 100, 50],
      [10, 20, 60, 6],
      [20, 40, 80, 60],
      [40, 100, 90, 90],
    ],
  );
  assert.equal(stepAt(steps, 10).free, 60);
  assert.equal(stepAt(steps, 39.5).free, 80);
  assert.equal(stepAt(steps, 100), null);
  assert.equal(freeHeights(steps).end, 106);
});

test("what told nothing is passed over; what nobody told is not drawn", () => {
  const silent = { time_ps: [10], last_time_ps: [20], free_min: [null], free_last: [null], largest_free_min: [null] };
  assert.deepEqual(freeSteps(timeline({ ...silent, fragmentation_last: [null] })), []);
  const held = { before: { free_bytes: 5, fragmentation: 0 }, ...silent, fragmentation_last: [null] };
  assert.deepEqual(
    freeSteps(timeline(held)).map((step) => [step.x0, step.x1, step.free]),
    [[0, 100, 5]],
  );
  const late = freeSteps(
    timeline({
      time_ps: [30],
      last_time_ps: [30],
      free_min: [5],
      free_last: [5],
      largest_free_min: [5],
      fragmentation_last: [0],
    }),
  );
  assert.equal(stepAt(late, 20), null);
  assert.equal(stepAt(late, 30).largest, 5);
});
