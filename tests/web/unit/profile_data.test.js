import { test } from "node:test";
import assert from "node:assert/strict";
import { eventText, eventsOf, factsOf } from "../../../web/js/tools/memory_profile/data/event_facts.js";
import {
  chooseMemory,
  highestFirst,
  isStillRead,
  listMemories,
  listMoreMemories,
  overlaidMemories,
  toggleOverlay,
  windowOf,
  readCount,
  takeLater,
} from "../../../web/js/tools/memory_profile/data/memories.js";
import { notesOf, overviewRows, reasonOf } from "../../../web/js/tools/memory_profile/data/overview_rows.js";
import { summaryLines } from "../../../web/js/tools/memory_profile/data/summary.js";
import { parseRange, parseTime, rangeText } from "../../../web/js/tools/memory_profile/data/view_text.js";

const memory = (memory_id, peak_bytes, more = {}) => ({
  memory_id,
  peak_bytes,
  begin_ps: 5,
  end_ps: 90,
  notes: [],
  ...more,
});
const host = (name, memories, more = {}) => ({
  host: name,
  state: "events",
  begin_ps: 10,
  end_ps: 100,
  memories,
  ...more,
});
const REPLY = {
  hosts: [
    host("a", [memory("GPU_0", 10), memory("GPU_1", 30)]),
    host("b/c", [memory("GPU_0", 90)]),
    host("d", [], { state: "no_events", reason: "no events in /host:CPU" }),
  ],
  notes: ["hosts have clocks of their own"],
};
const LIST = listMemories(REPLY);

test("without an address the highest memory is meant, and an address wins", () => {
  const choose = (host = null, memory_id = null) => chooseMemory(LIST, { host, memory_id })?.token ?? null;
  assert.equal(choose(), "b%2Fc/GPU_0");
  assert.equal(choose("a"), "a/GPU_1");
  assert.equal(choose("a", "GPU_0"), "a/GPU_0");
  assert.equal(choose(null, "GPU_1"), "a/GPU_1");
  assert.equal(choose(null, "GPU_0"), "b%2Fc/GPU_0");
  assert.equal(choose("b/c", "GPU_1"), null);
  assert.equal(choose("d"), null);
});

test("the highest come first: hosts, and the memories of each; those without events stay as they are listed", () => {
  assert.deepEqual(
    LIST.map((one) => one.token),
    ["b%2Fc/GPU_0", "a/GPU_1", "a/GPU_0"],
  );
  const more = [host("x", [], { state: "loading" }), ...REPLY.hosts];
  assert.deepEqual(
    highestFirst(more).map((one) => one.host),
    ["b/c", "a", "x", "d"],
  );
});

test("hosts that are read later join those that are shown, which stay what they are", () => {
  const loading = (name) => host(name, [], { state: "loading" });
  const first = { complete: false, hosts: [loading("a"), host("b", [memory("GPU_0", 10)]), loading("c")], notes: [] };
  const shown = listMemories(first);
  const kept = shown[0];
  assert.deepEqual([isStillRead(first, { host: null }), isStillRead(first, { host: "b" })], [true, false]);
  assert.equal(readCount(first), 1);
  assert.match(reasonOf(first.hosts[0]), /being read/);
  const reply = takeLater(first, {
    complete: true,
    hosts: [
      host("a", [memory("GPU_0", 5)]),
      host("b", [memory("GPU_0", 10)]),
      host("c", [], { state: "error", error: { message: "cut short" } }),
    ],
    notes: ["more"],
  });
  const more = listMoreMemories(shown, reply);
  assert.equal(reply, first);
  assert.deepEqual(more.map((one) => one.token), ["b/GPU_0", "a/GPU_0"]);
  assert.equal(more[0], kept);
  assert.equal(readCount(reply), 3);
  assert.deepEqual([reply.complete, reply.notes], [true, ["more"]]);
  assert.match(overviewRows(reply, more).map((row) => (row.memory ? "" : reasonOf(row.host))).join(""), /cut short/);
});

test("memories drawn over the chosen one come and go in the address", () => {
  const both = toggleOverlay(toggleOverlay(null, "a/GPU_0"), "b%2Fc/GPU_0");
  assert.equal(both, "a/GPU_0,b%2Fc/GPU_0");
  assert.deepEqual(
    overlaidMemories(LIST, both, LIST[0]).map((one) => one.token),
    ["a/GPU_0"],
  );
  assert.equal(toggleOverlay(toggleOverlay(both, "a/GPU_0"), "b%2Fc/GPU_0"), null);
});

test("the window holds everything that can be shown", () => {
  assert.deepEqual(windowOf(LIST), { begin: 5, end: 100 });
});

test("a host without memory events has a row that says why", () => {
  const rows = overviewRows(REPLY, LIST);
  assert.deepEqual(
    rows.map((row) => row.memory?.memory_id ?? null),
    ["GPU_0", "GPU_1", "GPU_0", null],
  );
  assert.equal(reasonOf(rows[3].host), "no events in /host:CPU");
  assert.match(reasonOf({ error: { message: "cut short" } }), /cannot be read: cut short/);
  assert.deepEqual(notesOf(REPLY, rows[0]), ["hosts have clocks of their own"]);
});

const FULL = {
  ...memory("GPU_0", 700),
  allocations: 6500,
  frees: 6400,
  capacity_bytes: 1000,
  lifetime_peak_bytes: 800,
  peak_ps: 38404225000,
  peak_step: 2,
  at_peak: { stack_bytes: 0, heap_bytes: 700, free_bytes: 300, fragmentation: null, largest_free_bytes: null },
  requested_bytes: 100,
  allocated_bytes: 125,
  held_at_begin_bytes: 0,
  held_at_end_bytes: 7,
  held_allocations: 100,
  xprof: { allocations: 480, frees: 6400, sampled: true, lifetime_peak_bytes: 600, peak_ps: 38404225000 },
};

test("the summary tells true counts, and what XProf shows only where that differs", () => {
  const lines = Object.fromEntries(
    summaryLines(FULL)
      .flat()
      .map((line) => [line.id, line]),
  );
  assert.equal(lines.allocations.xprof.text, "480");
  assert.equal(lines.deallocations.xprof, undefined);
  assert.equal(lines["lifetime-peak"].xprof.bytes, 600);
  assert.equal(lines.timestamp.text, "38.404 ms, step 2");
  assert.equal(lines.timestamp.xprof, undefined);
  assert.equal(lines.fragmentation.text, "not told");
  assert.equal(lines["over-allocation"].text, "1.25 x");
});

test("an allocator that told no state has a summary all the same", () => {
  const nothing = { ...FULL, peak_bytes: null, peak_ps: null, peak_step: null, at_peak: null, capacity_bytes: null };
  const lines = summaryLines({ ...nothing, requested_bytes: 0 }).flat();
  for (const line of lines)
    assert.doesNotMatch(`${line.text ?? ""} ${line.note ?? ""}`, /NaN|undefined|null/, line.id);
  assert.equal(lines.find((line) => line.id === "window-peak").bytes, null);
  assert.ok(!lines.some((line) => line.id === "timestamp"));
});

test("an event is told with its partner", () => {
  const reply = {
    row: [3],
    time_ps: [2e9],
    is_free: [true],
    requested_bytes: [10],
    allocated_bytes: [256],
    heap_bytes: [null],
    stack_bytes: [null],
    free_bytes: [null],
    fragmentation: [null],
    address: ["0x7f"],
    step: [4],
    step_is_completed: [true],
    op: [1],
    region_type: [0],
    data_type: [0],
    shape: [0],
    thread: [0],
    partner_row: [1],
    unexplained_bytes: [0],
    strings: ["", "MatMul"],
  };
  const [event] = eventsOf(reply);
  const facts = (partner) =>
    Object.fromEntries(
      factsOf(event, partner)
        .flat()
        .map((fact) => [fact.label, fact]),
    );
  assert.equal(facts({ time_ps: 1.5e9 })["was allocated"].text, "500 µs before");
  assert.equal(facts(null)["was allocated"].text, "…");
  assert.equal(facts(null)["memory in use"].bytes, null);
  assert.match(eventText(event, null), /^deallocation 3: MatMul\ntimestamp: 2.000000 ms/);
});

test("what is no time or no range in the address is left alone", () => {
  assert.deepEqual(
    [parseTime("12"), parseTime("-1"), parseTime("x"), parseTime(""), parseTime(null)],
    [12, null, null, null, null],
  );
  assert.deepEqual([parseRange("5", "4"), parseRange("1", undefined)], [null, null]);
  assert.deepEqual(parseRange("1", "9"), { begin: 1, end: 9 });
  assert.deepEqual(rangeText({ begin: -0.5, end: 9.2 }), ["0", "10"]);
});
