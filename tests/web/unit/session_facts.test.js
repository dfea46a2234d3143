// What the list of sessions tells of each.
import { test } from "node:test";
import assert from "node:assert/strict";
import { factsOf } from "../../../web/js/shell/session_facts.js";

const module = (...peaks) => ({ state: "ready", memory_spaces: peaks.map((peak_bytes) => ({ peak_bytes })) });

test("size of all files, number of programs, the highest peak of those that are known", () => {
  const hosts = [
    { size_bytes: 5, error: null },
    { size_bytes: 7, error: { message: "cut off" } },
  ];
  const modules = [module(3, 9), module(4), { state: "pending", memory_spaces: [] }];
  assert.deepEqual(factsOf({ modules, hosts }), { bytes: 12, programs: 3, peak: 9, isBroken: false });
});

test("without programs there is no peak; without a readable file it is broken", () => {
  assert.deepEqual(factsOf({ modules: [], hosts: [{ size_bytes: 1, error: null }] }), {
    bytes: 1,
    programs: 0,
    peak: null,
    isBroken: false,
  });
  assert.ok(factsOf({ modules: [], hosts: [{ error: {} }] }).isBroken);
});
