import { test } from "node:test";
import assert from "node:assert/strict";
import { findReply, partOf } from "../../../web/js/saved/find_reply.js";

const place = { session: "s", module: "jit_f(1)", host: "vm", memory_space: "0" };
const replies = [
  { resource: "memory_view", query: { ...place, delta: "1" } },
  { resource: "memory_view/groups", query: { ...place, by: "source" } },
  { resource: "memory_view/groups", query: { ...place, by: "phase" } },
  { resource: "buffer", query: place, each: "logical_buffer_id" },
  { resource: "memory_view/groups", query: { ...place, memory_space: "1", by: "source" } },
];
const asked = { session: "s", module: "jit_f(1)" };

test("a reply answers what names the same, and what leaves out the usual", () => {
  assert.equal(findReply(replies, "memory_view", { ...asked, delta: "1", host: "vm" }), 0);
  assert.equal(findReply(replies, "memory_view", asked), -1, "another form of it");
  assert.equal(findReply(replies, "memory_view/groups", asked), 1);
  assert.equal(findReply(replies, "memory_view/groups", { ...asked, by: "phase" }), 2);
  assert.equal(findReply(replies, "memory_view/groups", { ...asked, memory_space: "1" }), 4);
  assert.equal(findReply(replies, "memory_view/groups", { ...asked, by: "phase", step: "3" }), -1);
  assert.equal(findReply(replies, "memory_view/groups", { ...asked, module: "jit_g(2)" }), -1);
  assert.equal(findReply(replies, "memory_view", { ...asked, delta: "1", host: "other" }), -1);
});

test("one reply of many answers for each of them", () => {
  const at = findReply(replies, "buffer", { ...asked, logical_buffer_id: "7" });
  assert.equal(at, 3);
  assert.equal(findReply(replies, "buffer", asked), -1);
  assert.deepEqual(partOf(replies[at], { 7: { name: "a" } }, { logical_buffer_id: "7" }), { name: "a" });
  assert.equal(partOf(replies[at], { 7: {} }, { logical_buffer_id: "8" }), null);
});

const timeline = {
  from_ps: 0,
  to_ps: 100,
  is_exact: true,
  before: null,
  events: 3,
  time_ps: [10, 20, 30],
  first_row: [0, 1, 2],
  heap_last: [5, 6, 7],
  stack_last: [0, 0, 0],
  free_last: [1, 1, 1],
  fragmentation_last: [0, 0, 0],
};
const curve = { resource: "memory_profile/timeline", query: { session: "s", buckets: "10000" } };

test("a window of a curve whose every event is here is cut out; of another only the whole", () => {
  assert.equal(findReply([curve], curve.resource, { session: "s", from_ps: "1", to_ps: "2", buckets: "5" }), 0);
  const cut = partOf(curve, timeline, { from_ps: "20", to_ps: "30" });
  assert.deepEqual([cut.time_ps, cut.heap_last, cut.events], [[20], [6], 1]);
  assert.deepEqual([cut.before.row, cut.before.heap_bytes], [0, 5]);
  const whole = partOf(curve, timeline, { from_ps: "0", to_ps: "200" });
  assert.deepEqual([whole.to_ps, whole.events, whole.before], [200, 3, null]);
  const coarse = { ...timeline, is_exact: false };
  assert.equal(partOf(curve, coarse, { from_ps: "0", to_ps: "100" }), coarse);
  assert.equal(partOf(curve, { ...timeline, is_exact: false }, { from_ps: "20", to_ps: "30" }), null);
});

test("events are cut by window, row, offset and what they say", () => {
  const kept = { resource: "memory_profile/events", query: { session: "s", limit: "10000" } };
  const body = {
    total: 3,
    offset: 0,
    strings: ["", "a", "b"],
    row: [0, 1, 2],
    time_ps: [10, 20, 30],
    op: [1, 2, 1],
    unexplained_bytes: [0, 4, 0],
    unexplained_stack_bytes: [0, 0, 0],
  };
  const rows = (query) => {
    const part = partOf(kept, body, query);
    return part && [part.total, part.row, part.strings.length];
  };
  assert.equal(findReply([kept], kept.resource, { session: "s", row: "1" }), 0);
  assert.deepEqual(rows({ row: "1" }), [1, [1], 3]);
  assert.equal(rows({ row: "9" }), null);
  assert.deepEqual(rows({ from_ps: "15", to_ps: "40", limit: "1" }), [2, [1], 3]);
  assert.deepEqual(rows({ offset: "2" }), [3, [2], 3]);
  assert.deepEqual(rows({ only: "unexplained" }), [1, [1], 3]);
  assert.equal(partOf(kept, { ...body, total: 9 }, { offset: "0" }), null, "some of them are not in the page");
});
