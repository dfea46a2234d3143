import { test } from "node:test";
import assert from "node:assert/strict";
import {
  chosenPlan,
  fitOfRow,
  nearestText,
  plansOf,
  waterfallRows,
  waterfallScale,
  waterfallText,
} from "../../../web/js/base/waterfall.js";

const GIB = 2 ** 30;

function planOf(...steps) {
  let before = 20;
  return {
    is_needed: true,
    fits: true,
    interventions: steps.map(([id]) => id),
    steps: steps.map(([id, total]) => {
      const saves = before - total;
      before = total;
      return {
        id,
        name: id.replaceAll("_", " "),
        predicted_total_bytes: total * GIB,
        low_bytes: (total - 1) * GIB,
        high_bytes: (total + 1) * GIB,
        saves_bytes: saves * GIB,
      };
    }),
  };
}

const plan = planOf(["donate_inputs", 18], ["rematerialize", 12]);

test("each step begins where the one before it ended", () => {
  const rows = waterfallRows(plan, 20 * GIB);
  assert.deepEqual(
    rows.map((row) => [row.title, row.before / GIB, row.predicted_total_bytes / GIB]),
    [
      ["Today", 20, 20],
      ["Donate inputs", 20, 18],
      ["Rematerialize", 18, 12],
    ],
  );
  assert.deepEqual(waterfallRows({}, 5).length, 1, "a reply that has no steps");
});

test("the scale holds today, every range and the capacity", () => {
  const rows = waterfallRows(plan, 20 * GIB);
  assert.equal(waterfallScale(rows, null), 20 * GIB);
  assert.equal(waterfallScale(rows, 32 * GIB), 32 * GIB);
  const worse = waterfallRows(planOf(["donate_inputs", 24]), 20 * GIB);
  assert.equal(waterfallScale(worse, 16 * GIB), 25 * GIB);
});

test("a row fits by its range", () => {
  const [today, donated, last] = waterfallRows(plan, 20 * GIB);
  assert.equal(fitOfRow(today, 20 * GIB), "fits");
  assert.equal(fitOfRow(today, 19 * GIB), "too_big");
  assert.equal(fitOfRow(donated, 18 * GIB), "may_fit");
  assert.equal(fitOfRow(last, 13 * GIB), "fits");
  assert.equal(fitOfRow(last, null), null);
});

test("the nearest is told with what it lacks, who holds it, and over how many chips it would fit", () => {
  const nearest = { over_bytes: GIB, held_by: ["TPU v5p", "TPU v7x"] };
  const told = "1.00 GiB too much; TPU v5p, TPU v7x would hold it.";
  assert.equal(nearestText({ nearest }), told);
  const least_ways = { ways: 8, predicted_total_bytes: 1 };
  assert.match(nearestText({ nearest, least_ways }), /at least 8 \(reasoned, not compiled\)\.$/);
  assert.equal(nearestText({ nearest: { ...nearest, held_by: null } }), "1.00 GiB too much.");
});

test("as text the steps stand in columns", () => {
  assert.equal(
    waterfallText(waterfallRows(plan, 20 * GIB), 16 * GIB),
    [
      "Today          20.00 GiB",
      "Donate inputs  18.00 GiB  -2.00 GiB (17.00 to 19.00 GiB)",
      "Rematerialize  12.00 GiB  -6.00 GiB (11.00 to 13.00 GiB)",
      "Capacity       16.00 GiB",
    ].join("\n"),
  );
  assert.match(waterfallText(waterfallRows(planOf(["donate_inputs", 21]), 20 * GIB), null), /\+1\.00 GiB/);
});

test("the plan and its alternatives are to choose from; where none is needed, chains; where none fits, nothing", () => {
  const other = { ...planOf(["shard_all", 6]), kind: "fewer_changes" };
  const chain = { ...planOf(["donate_inputs", 18], ["halve_batch", 11]), names: ["donate", "halve"] };
  const kinds = (reply) => plansOf(reply).map((one) => one.kind);
  assert.deepEqual(kinds({ plan, alternatives: [other], chains: [chain] }), ["plan", "fewer_changes"]);
  assert.deepEqual(kinds({ chains: [chain] }), ["donate_inputs+halve_batch"]);
  assert.deepEqual(kinds({ plan: { is_needed: false, fits: true, interventions: [] }, chains: [chain] }).length, 1);
  assert.deepEqual(kinds({ plan: { is_needed: true, fits: false, interventions: [] }, chains: [chain] }), []);
  const none = { is_needed: true, fits: false, interventions: [] };
  const [near] = plansOf({ plan: none, chains: [chain], nearest: other });
  assert.deepEqual([near.kind, near.title, near.steps], ["nearest", "the nearest", other.steps]);
  const plans = plansOf({ plan, alternatives: [other] });
  assert.equal(chosenPlan(plans, "fewer_changes"), plans[1]);
  assert.equal(chosenPlan(plans, "gone"), plans[0]);
  assert.equal(chosenPlan([], null), null);
});
