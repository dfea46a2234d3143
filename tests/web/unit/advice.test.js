import { test } from "node:test";
import assert from "node:assert/strict";
import { nameOfChange, namesOfPlan } from "../../../web/js/base/change_names.js";
import {
  adviceOf,
  parseCount,
  planSentence,
} from "../../../web/js/tools/memory_viewer/data/advice.js";
import { checkCommand, shellWord } from "../../../web/js/tools/memory_viewer/data/check_command.js";

const GIB = 2 ** 30;

function itemOf(id, savesGib, told = {}) {
  const total = (20 - savesGib) * GIB;
  return {
    id,
    applies: true,
    predicted_total_bytes: total,
    predicted_peak_bytes: total,
    saves_bytes: savesGib * GIB,
    low_bytes: total - GIB,
    high_bytes: total + GIB,
    changes_numerics: false,
    evidence: ["because"],
    how: "x = f(x)",
    ...told,
  };
}

function replyOf(told = {}) {
  const interventions = [
    itemOf("bf16_temporaries", -1, { changes_numerics: true }),
    itemOf("donate_inputs", 3),
    itemOf("shard_all", 14, { ways: 4 }),
    itemOf("align_dimensions", 0, { applies: false }),
  ];
  const reply = { module: "jit_f(1)", capacity_bytes: 16 * GIB, total_bytes: 20 * GIB, peak_bytes: 19 * GIB };
  return { ...reply, interventions, ...told };
}

const plan = {
  is_needed: true,
  fits: true,
  interventions: ["donate_inputs", "rematerialize"],
  names: ["donate the inputs", "rematerialize"],
  predicted_total_bytes: 12 * GIB,
  low_bytes: 10 * GIB,
  high_bytes: 17 * GIB,
  fit: "may_fit",
  ways: null,
};

test("what saves most comes first, what costs last, what does not apply apart", () => {
  const advice = adviceOf(replyOf({ plan }));
  assert.deepEqual(
    advice.applying.map((change) => change.id),
    ["shard_all", "donate_inputs", "bf16_temporaries"],
  );
  assert.deepEqual(
    advice.others.map((change) => change.id),
    ["align_dimensions"],
  );
  assert.deepEqual(
    advice.applying.map((change) => change.isPlanned),
    [false, true, false],
  );
});

test("what cannot be told stands apart from what is of no use, and has no bar", () => {
  const nothing = { predicted_total_bytes: null, low_bytes: null, high_bytes: null, saves_bytes: 0 };
  const untold = itemOf("rematerialize", 0, { applies: false, understood: 0.2, ...nothing });
  const advice = adviceOf(replyOf({ interventions: [itemOf("donate_inputs", 3), untold] }));
  assert.deepEqual(
    [advice.applying, advice.others, advice.untold].map((list) => list.map((change) => change.id)),
    [["donate_inputs"], [], ["rematerialize"]],
  );
  assert.equal(advice.scale, 20 * GIB);
});

test("bars hold today's total, the capacity and every range", () => {
  assert.equal(adviceOf(replyOf()).scale, 22 * GIB);
  assert.equal(adviceOf(replyOf({ capacity_bytes: 95 * GIB })).scale, 95 * GIB);
  assert.equal(adviceOf(replyOf({ interventions: [], total_bytes: 0, capacity_bytes: null })).scale, 1);
});

test("the plan is one sentence", () => {
  assert.equal(
    planSentence(adviceOf(replyOf({ plan }))),
    "The plan: donate the inputs and rematerialize → 12.00 GiB (10.00 GiB to 17.00 GiB), may fit 16.00 GiB.",
  );
});

test("no capacity, a program that fits, and nothing that helps are told apart", () => {
  const sentence = (told) => planSentence(adviceOf(replyOf(told)));
  assert.match(sentence({ capacity_bytes: null }), /^Say what the device has/);
  assert.match(sentence({ capacity_bytes: 0 }), /^Say what the device has/);
  assert.match(sentence({ capacity_bytes: 32 * GIB }), /^Fits as it is: 20\.00 GiB of 32\.00 GiB/);
  assert.match(sentence({ plan: { ...plan, interventions: [], fits: false } }), /^None of these/);
  assert.match(sentence({ plan: { ...plan, fits: false, predicted_total_bytes: 17 * GIB } }), /^Nothing here fits/);
  assert.match(sentence({ plan: null }), /^None of these/);
});

test("an alternative that is chosen is the plan of the page", () => {
  const other = { ...plan, kind: "same_numerics", interventions: ["shard_all"], names: ["shard it"], fit: "fits" };
  const reply = replyOf({ plan, alternatives: [other] });
  const advice = adviceOf(reply, "same_numerics");
  assert.deepEqual(
    advice.applying.map((change) => change.isPlanned),
    [true, false, false],
  );
  assert.equal(
    planSentence(advice),
    "With the same numerics: shard it → 12.00 GiB (10.00 GiB to 17.00 GiB), fits 16.00 GiB.",
  );
  assert.equal(adviceOf(reply, "no such kind").chosen.kind, "plan");
});

test("a plan in other parts says how many, with its own code, beside the figures of the change alone", () => {
  const parts = { parts: 4, code: "scan over 4" };
  const interventions = [itemOf("micro_batch", 5, parts), itemOf("donate_inputs", 1, { code: "donate" })];
  const steps = [
    { id: "donate_inputs", code: "donate" },
    { id: "micro_batch", parts: 8, code: "scan over 8" },
  ];
  const more = { ...plan, interventions: ["donate_inputs", "micro_batch"], steps };
  const [micro, donation] = adviceOf(replyOf({ interventions, plan: more })).applying;
  assert.deepEqual([micro.title, micro.code], ["Micro batch, 8 in the plan", "scan over 8"]);
  assert.deepEqual([donation.title, donation.code], ["Donate inputs", "donate"]);
  const same = { ...more, steps: [steps[0], { ...steps[1], parts: 4, code: "scan over 4" }] };
  assert.equal(adviceOf(replyOf({ interventions, plan: same })).applying[0].title, "Micro batch");
});

test("changes go by the server's names, sharding with its chips, unnamed ones by their id", () => {
  assert.equal(nameOfChange({ id: "donate_inputs", name: "donate the inputs" }), "Donate the inputs");
  assert.equal(nameOfChange({ id: "check_sharding" }), "Check sharding");
  assert.equal(adviceOf(replyOf()).applying[0].title, "Shard all, 4 chips");
  const interventions = [itemOf("align_dimensions", 1, { dimension: { from: 1023, to: 1024 } })];
  assert.equal(adviceOf(replyOf({ interventions })).applying[0].title, "Align dimensions, 1023 → 1024");
  const both = { interventions: ["shard_all", "donate_inputs"], names: ["shard it", "donate"], ways: 8 };
  assert.equal(namesOfPlan(both), "shard it and donate over 8 chips");
});

test("only whole counts from the least on are taken", () => {
  assert.deepEqual(
    ["4", " 8 ", "1", "0", "-2", "2.5", "x", "", null, "9999999999"].map((text) => parseCount(text, 2)),
    [4, 8, null, null, null, null, null, null, null, null],
  );
});

test("the compiler is asked by a command that a shell takes as it is meant", () => {
  const advice = { session: "run 1", module: "jit_f(39)" };
  const asked = { capacity: 1024, ways: null, batch: 8, sequence: null };
  assert.equal(
    checkCommand("/tmp/dump", advice, asked),
    "hbmview advise /tmp/dump --session='run 1' --module='jit_f(39)' --capacity=1024 --batch=8 --check",
  );
  assert.match(checkCommand("d", advice, {}, "http://hub:8/a b/"), /--check --page='http:\/\/hub:8\/a b\/'$/);
  const plain = { session: "s", module: "m" };
  assert.equal(checkCommand(null, plain, {}), "hbmview advise PATH --session=s --module=m --check");
  assert.equal(shellWord("it's $HOME"), "'it'\\''s $HOME'");
});
