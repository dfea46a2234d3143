import { test } from "node:test";
import assert from "node:assert/strict";
import { range, span } from "../../../web/js/base/range.js";
import { buildCurve } from "../../../web/js/tools/memory_profile/data/curve.js";
import { createColumns, fillColumns } from "../../../web/js/tools/memory_profile/layout/columns.js";
import { bandsOf, boxesIn, timeTicks } from "../../../web/js/tools/memory_profile/layout/frame.js";
import {
  breakAt,
  brokenAxis,
  idleInAll,
  inTime,
  isMostlyIdle,
  onAxis,
  piecesIn,
  silencesOf,
  wholeAxis,
} from "../../../web/js/tools/memory_profile/layout/time_axis.js";
import { timelineReply } from "./sample_timeline.js";

/** Numbers that look random and are the same every time. */
function randoms(seed) {
  let state = seed;
  return (most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return (state / 2147483648) * most;
  };
}

/** Busy stretches of up to a second between silences of up to ten. */
function randomSilences(random) {
  const silences = [];
  let time = 0;
  for (let i = 0; i < 1 + random(12); i += 1) {
    const begin = time + random(1e12);
    time = begin + random(1e13);
    silences.push(range(Math.floor(begin), Math.ceil(time)));
  }
  return { full: range(0, time + random(1e12)), silences };
}

test("both ways are monotonic and inverse to each other, whatever is left out", () => {
  const random = randoms(7);
  for (let round = 0; round < 60; round += 1) {
    const { full, silences } = randomSilences(random);
    const axis = brokenAxis(full, silences);
    const times = Array.from({ length: 200 }, () => full.begin + random(span(full))).sort((a, b) => a - b);
    let before = -Infinity;
    for (const time of [full.begin - 5, ...times, full.end + 5]) {
      const at = axis.toAxis(time);
      assert.ok(at > before, `${time} is not after the one before it`);
      assert.ok(Math.abs(axis.toTime(at) - time) < 1, `${time} comes back as ${axis.toTime(at)}`);
      before = at;
    }
    assert.deepEqual(onAxis(axis, full), axis.full);
    assert.ok(span(axis.full) <= span(full));
  }
});

test("busy time keeps its width, and every break is left out once", () => {
  const random = randoms(11);
  for (let round = 0; round < 60; round += 1) {
    const { full, silences } = randomSilences(random);
    const axis = brokenAxis(full, silences);
    const edges = [full.begin, ...axis.breaks.flatMap((one) => [one.begin, one.end]), full.end];
    for (let i = 0; i < edges.length; i += 2) {
      const busy = range(edges[i], edges[i + 1]);
      assert.ok(Math.abs(span(onAxis(axis, busy)) - span(busy)) < 10);
    }
    for (const one of axis.breaks) {
      assert.ok(one.begin > one.silence.begin && one.end < one.silence.end);
      assert.ok(silences.some((silence) => silence.begin === one.silence.begin && silence.end === one.silence.end));
      assert.ok(span(onAxis(axis, one)) < span(one));
    }
  }
});

const FULL = range(0, 32e12);
const STALLS = [range(1e12, 11e12), range(11.2e12, 11.25e12), range(12e12, 31.5e12)];

test("what is left out is long, of its kind, and usual only where most is idle", () => {
  const axis = brokenAxis(FULL, STALLS);
  assert.deepEqual(
    axis.breaks.map((one) => one.silence),
    [STALLS[0], STALLS[2]],
  );
  assert.ok(isMostlyIdle(FULL, STALLS));
  assert.ok(!isMostlyIdle(FULL, [range(1e12, 11e12)]));
  assert.deepEqual(brokenAxis(FULL, []).breaks, []);
  assert.equal(brokenAxis(FULL, [range(0, 1e12)]).toAxis(5e12), 5e12, "a short one hides nothing");
});

test("a time within a break is told, one beside it is not", () => {
  const axis = brokenAxis(FULL, STALLS);
  assert.deepEqual(breakAt(axis, 5e12).silence, STALLS[0]);
  assert.deepEqual([breakAt(axis, 1e12), breakAt(axis, 11.5e12), breakAt(wholeAxis(FULL), 5e12)], [null, null, null]);
});

test("the pieces of a view lie between breaks and share its columns", () => {
  const axis = brokenAxis(FULL, STALLS);
  const pieces = piecesIn(axis, axis.full, 1000);
  assert.deepEqual([pieces.length, pieces[0].view.begin, pieces[2].view.end], [3, 0, FULL.end]);
  pieces.forEach(({ view }) => axis.breaks.forEach((one) => assert.ok(view.end <= one.begin || view.begin >= one.end)));
  const columns = pieces.reduce((sum, piece) => sum + piece.columns, 0);
  assert.ok(columns < 1000 && columns > 700, `${columns}`);
  const within = onAxis(axis, range(4e12, 5e12));
  assert.equal(piecesIn(axis, within, 10).length, 1, "amid a break the view is asked for as it is");
  const plain = wholeAxis(FULL);
  assert.deepEqual(piecesIn(plain, range(1, 9), 10), [{ view: range(1, 9), columns: 10 }]);
});

test("columns show the same as without breaks, where time is busy", () => {
  const rows = [
    [100, 10],
    [200, 50],
    [9000, 20],
    [9100, 80],
  ];
  const curve = buildCurve(timelineReply(rows, { from: 0, to: 9200 }));
  const axis = brokenAxis(range(0, 9200), [range(200, 9000)]);
  const columns = fillColumns(createColumns(400), [curve], axis.full, axis);
  const at = (time) => columns.usedMax[Math.floor((axis.toAxis(time) / span(axis.full)) * 400)];
  assert.deepEqual([at(150), at(240), at(5000), at(8980), at(9050), at(9150)], [10, 50, 50, 50, 20, 80]);
});

test("ticks stand in busy time, apart from each other; bands keep to the axis", () => {
  const axis = brokenAxis(FULL, STALLS);
  const { at } = timeTicks(axis.full, 900, axis);
  const pixels = at.map((time) => (axis.toAxis(time) / span(axis.full)) * 900);
  assert.ok(at.length >= 4, String(at));
  assert.ok(at.some((time) => time > 11e12) && at.every((time) => breakAt(axis, time) === null));
  pixels.slice(1).forEach((pixel, i) => assert.ok(pixel - pixels[i] >= 56));
  const bands = bandsOf([
    { begin_ps: 0, end_ps: 11.5e12, name: "a" },
    { begin_ps: 11.5e12, end_ps: FULL.end, name: "b" },
  ]);
  const boxes = boxesIn(bands, axis.full, 900, axis);
  const border = (axis.toAxis(11.5e12) / span(axis.full)) * 900;
  assert.deepEqual(
    boxes.map(({ x0, x1 }) => [x0, x1]),
    [
      [0, border],
      [border, 900],
    ],
  );
});

test("idle is what is idle in every memory that is drawn, before its first event and after its last too", () => {
  const memory = (begin_ps, end_ps, silences) => ({
    begin_ps,
    end_ps,
    silences: { begin_ps: silences.map((one) => one[0]), end_ps: silences.map((one) => one[1]) },
  });
  const full = range(0, 100);
  const one = silencesOf(memory(10, 90, [[20, 50]]), full);
  assert.deepEqual(one, [range(0, 10), range(20, 50), range(90, 100)]);
  const other = silencesOf(memory(0, 95, [[40, 60]]), full);
  assert.deepEqual(idleInAll([one, other]), [range(40, 50), range(95, 100)]);
  assert.deepEqual(inTime(wholeAxis(full), full), full);
});
