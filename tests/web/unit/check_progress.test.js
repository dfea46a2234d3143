// How far a check against the compiler is, in words.
import { test } from "node:test";
import assert from "node:assert/strict";
import { SILENT_MS, checkProgress } from "../../../web/js/tools/memory_viewer/data/check_progress.js";

const NOW = new Date(2026, 0, 2, 14, 3, 40).getTime();

function rowOf(id, compiled, more = {}) {
  const figures = { predicted_total_bytes: null, low_bytes: null, high_bytes: null, compiled_total_bytes: compiled };
  const outcome = { is_inside: null, status: "compiled", reason: null, seconds: 1 };
  return { id, name: `name of ${id}`, ...figures, ...outcome, ...more };
}

const predicted = (bytes, isInside) => ({
  predicted_total_bytes: bytes,
  low_bytes: bytes - 1,
  high_bytes: bytes + 1,
  is_inside: isInside,
});

function told(more = {}) {
  return {
    age_ms: 1000,
    state: "running",
    asked: "changes",
    target: "v5e:2x2",
    compiler: "jax 1",
    total: 4,
    compiled: 1,
    compiling: "donate the inputs",
    reason: null,
    rows: [rowOf("as_it_is", 100)],
    ...more,
  };
}

test("while it goes on it says what is compiled, how many are, and asks again", () => {
  const progress = checkProgress(told(), NOW);
  assert.equal(progress.headline, "1 of 4 done: donate the inputs …");
  assert.deepEqual([progress.state, progress.goesOn, progress.compiling], ["running", true, "donate the inputs"]);
  assert.equal(checkProgress(told({ total: 0, compiled: 0, compiling: null }), NOW).headline, "It begins …");
});

test("nothing told is said so, and may come", () => {
  const none = checkProgress(null, NOW);
  assert.deepEqual([none.state, none.goesOn, none.rows], ["none", true, []]);
  assert.match(none.headline, /run the command/);
});

test("silence is told with its time, but only of what goes on", () => {
  assert.equal(checkProgress(told({ age_ms: SILENT_MS }), NOW).state, "running");
  const silent = checkProgress(told({ age_ms: 40000 }), NOW);
  assert.deepEqual([silent.state, silent.goesOn, silent.compiling], ["silent", true, null]);
  assert.match(silent.headline, /^No news since 14:03:00, with 1 of 4 done\./);
  assert.equal(checkProgress(told({ age_ms: 40000, state: "done" }), NOW).state, "done");
});

test("an end is told, and nothing more is asked", () => {
  const rows = [rowOf("as_it_is", 100), rowOf("a", 90, predicted(91, true)), rowOf("b", 50, predicted(80, false))];
  const done = checkProgress(told({ state: "done", compiled: 3, compiling: null, rows }), NOW);
  assert.equal(done.headline, "Done: 3 compiles for v5e:2x2 by jax 1. 1 of 2 predictions inside the range.");
  const failed = checkProgress(told({ state: "failed", reason: "pip install jax" }), NOW);
  assert.equal(failed.headline, "No answer: pip install jax");
  const stopped = checkProgress(told({ state: "stopped" }), NOW);
  assert.match(stopped.headline, /^Stopped at 14:03:39, with 1 of 4 done/);
  assert.deepEqual([done.goesOn, failed.goesOn, stopped.goesOn], [false, false, false]);
});

test("predicted beside compiled, what is outside marked, what failed with its reason", () => {
  const rows = [
    rowOf("as_it_is", 100),
    rowOf("a", 80, predicted(100, false)),
    rowOf("b", null, { status: "failed", reason: "not compiled within 9 s" }),
    rowOf("c", 130, { status: "too_big" }),
    rowOf("d", null, { status: "not_in_module", reason: "in the source" }),
    rowOf("e", null, { status: "not_in_module", reason: "in the source" }),
  ];
  const progress = checkProgress(told({ rows }), NOW);
  assert.deepEqual(
    progress.rows.map(({ id, offPercent, isOutside, mark, hasFailed }) => [id, offPercent, isOutside, mark, hasFailed]),
    [
      ["as_it_is", null, false, null, false],
      ["a", 25, true, null, false],
      ["b", null, false, "not compiled within 9 s", true],
      ["c", null, false, "more than the limit all the same", false],
    ],
  );
  assert.deepEqual(progress.rows[1].range, [99, 101]);
  assert.deepEqual(progress.left, [{ reason: "in the source", names: ["name of d", "name of e"] }]);
});

test("of flags the smallest total comes first, against the program as it is", () => {
  const rows = [rowOf("as_it_is", 100), rowOf("x=1", 120), rowOf("y=1", null, { status: "failed" }), rowOf("z=1", 70)];
  const progress = checkProgress(told({ asked: "flags", rows }), NOW);
  assert.deepEqual(
    progress.rows.map(({ id, change }) => [id, change]),
    [
      ["as_it_is", 0],
      ["z=1", -30],
      ["x=1", 20],
      ["y=1", null],
    ],
  );
});
