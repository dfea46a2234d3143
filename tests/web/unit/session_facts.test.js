// What the list of sessions tells of each, and which tools have something to show.
import { test } from "node:test";
import assert from "node:assert/strict";
import { createSessionContents, toolWithData, whatIsMissing } from "../../../web/js/shell/session_contents.js";
import { factsOf } from "../../../web/js/shell/session_facts.js";

const contents = (tools, more) => ({
  files: 1,
  unreadable_files: 0,
  size_bytes: 12,
  programs: tools.includes("memory_viewer") ? 3 : 0,
  tools,
  devices: [],
  ...more,
});
const module = (...peaks) => ({ state: "ready", memory_spaces: peaks.map((peak_bytes) => ({ peak_bytes })) });

test("size of all files, what they hold, the highest peak of those that are known", () => {
  const modules = [module(3, 9), module(4), { state: "pending", memory_spaces: [] }];
  assert.deepEqual(factsOf(contents(["memory_viewer", "memory_profile", "compare"]), modules), {
    bytes: 12,
    holds: ["3 programs", "allocator events"],
    peak: 9,
    isBroken: false,
  });
});

test("without programs there is no peak; without a readable file it is broken", () => {
  assert.deepEqual(factsOf(contents(["device_memory"]), []), {
    bytes: 12,
    holds: ["device memory profile"],
    peak: null,
    isBroken: false,
  });
  assert.ok(factsOf(contents([], { unreadable_files: 1 }), []).isBroken);
  assert.ok(!factsOf(contents([], { files: 2, unreadable_files: 1 }), []).isBroken);
});

test("a tool without data says why; what needs no session is never without", () => {
  const tensorflow = contents(["memory_profile"]);
  assert.equal(whatIsMissing(tensorflow, "memory_viewer"), "no compiled program");
  assert.equal(whatIsMissing(tensorflow, "memory_profile"), "");
  assert.equal(whatIsMissing(tensorflow, "out_of_memory"), "");
  assert.equal(whatIsMissing(null, "memory_viewer"), "", "nobody knows yet");
  assert.equal(whatIsMissing(contents([], { unreadable_files: 1 }), "memory_profile"), "cannot be read");
  assert.equal(whatIsMissing(contents([], { files: 0 }), "memory_profile"), "no profile in this folder");
});

test("a session opens in the tool that is wanted, else in the first that has data", () => {
  const tensorflow = contents(["memory_profile", "device_memory"]);
  assert.equal(toolWithData(tensorflow, "memory_viewer"), "memory_profile");
  assert.equal(toolWithData(tensorflow, "device_memory"), "device_memory");
  assert.equal(toolWithData(contents([]), "compare"), "compare", "none has: it says why");
  assert.equal(toolWithData(null, "compare"), "compare");
});

test("contents are asked for once, again after a failure, and anew once forgotten", async () => {
  let asked = 0;
  const reply = contents([]);
  const kept = createSessionContents(async () => {
    asked += 1;
    if (asked === 1) throw new Error("not there");
    return reply;
  });
  assert.equal(await kept.look("s"), null);
  assert.equal(kept.known("s"), null);
  assert.equal(await kept.look("s"), reply);
  assert.equal(await kept.look("s"), reply);
  assert.equal(kept.known("s"), reply);
  assert.equal(asked, 2);
  kept.forget();
  assert.equal(kept.known("s"), null);
  await kept.look("s");
  assert.equal(asked, 3);
});

test("what is on its way is kept when another session is forgotten, and not when it is itself", async () => {
  const replies = [];
  const kept = createSessionContents(() => new Promise((resolve) => replies.push(resolve)));
  const [mine, other] = [kept.look("mine"), kept.look("other")];
  kept.forget(["other"]);
  replies.forEach((resolve, at) => resolve(at));
  assert.deepEqual([await mine, await other], [0, 1]);
  assert.deepEqual([kept.known("mine"), kept.known("other")], [0, null]);
});
