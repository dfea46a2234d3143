import { test } from "node:test";
import assert from "node:assert/strict";
import { churnRows, histogramBars } from "../../../web/js/tools/memory_profile/panels/data/churn_rows.js";
import { eventsOf } from "../../../web/js/tools/memory_profile/data/event_facts.js";
import {
  CHUNK_ROWS,
  EVENT_COLUMNS,
  EVENT_CSV,
  createChunks,
} from "../../../web/js/tools/memory_profile/panels/data/event_columns.js";

test("ops: shares of all that was allocated; unknown where there is nothing to divide by, or nothing was freed", () => {
  const [first, second] = churnRows({
    allocated_bytes: 400,
    strings: ["a", "b"],
    ops: {
      op: [0, 1],
      allocations: [3, 1],
      frees: [3, 0],
      requested_bytes: [200, 0],
      allocated_bytes: [300, 100],
      held_bytes: [0, 100],
      largest_bytes: [100, 100],
      median_lifetime_ps: [7, -1],
    },
  });
  assert.deepEqual([first.share, first.over, first.lifetime], [0.75, 1.5, 7]);
  assert.deepEqual([second.share, second.over, second.lifetime], [0.25, null, null]);
});

test("a histogram is scaled by its largest bar, and the buckets that the reply leaves out are empty bars", () => {
  const bars = histogramBars([2, 16], [4, 32], { count: [4, 1], bytes: [10, 40] }, 2);
  assert.deepEqual(
    bars.map((bar) => [bar.from, bar.to, bar.countShare, bar.bytesShare]),
    [
      [2, 4, 1, 0.25],
      [4, 8, 0, 0],
      [8, 16, 0, 0],
      [16, 32, 0.25, 1],
    ],
  );
  assert.deepEqual(histogramBars([], [], { count: [], bytes: [] }, 2), []);
  assert.equal(histogramBars([0, 1000], [1000, 10000], { count: [1, 1], bytes: [0, 0] }, 10).length, 2);
});

const chunkAt = (offset) => Array.from({ length: CHUNK_ROWS }, (_, i) => ({ row: offset + i }));

test("chunks of events: found by place, missing ones named, the least used ones dropped", () => {
  const chunks = createChunks();
  assert.deepEqual(chunks.missing(0, CHUNK_ROWS + 1), [0, CHUNK_ROWS]);
  chunks.put(0, chunkAt(0));
  assert.deepEqual(chunks.missing(0, CHUNK_ROWS + 1), [CHUNK_ROWS]);
  assert.equal(chunks.find(CHUNK_ROWS - 1).row, CHUNK_ROWS - 1);
  assert.equal(chunks.with(1).length, CHUNK_ROWS);
  assert.equal(chunks.find(CHUNK_ROWS), null);
  for (let n = 1; n < 40; n += 1) {
    chunks.put(n * CHUNK_ROWS, chunkAt(n * CHUNK_ROWS));
    assert.ok(chunks.find(0), "the one in use stays");
  }
  assert.equal(chunks.find(CHUNK_ROWS), null);
  chunks.clear();
  assert.equal(chunks.find(0), null);
});

const [event] = eventsOf({
  strings: ["", "MatMul", "output", "float", "[2]", "main"],
  row: [12],
  time_ps: [34],
  is_free: [true],
  op: [1],
  requested_bytes: [100],
  allocated_bytes: [256],
  heap_bytes: [null],
  stack_bytes: [0],
  free_bytes: [9],
  fragmentation: [null],
  region_type: [2],
  data_type: [3],
  shape: [4],
  step: [5],
  step_is_completed: [false],
  partner_row: [-1],
  address: ["0x7f"],
  thread: [5],
  unexplained_bytes: [0],
  peak_bytes: [77],
});

test("an event's cells: what was not told is empty, an unseen partner too", () => {
  const cells = Object.fromEntries(EVENT_COLUMNS.map((column) => [column.key, column.value(event)]));
  assert.deepEqual([cells.kind, cells.op, cells.heap, cells.partner], ["free", "MatMul", null, null]);
});

test("CSV of events has every column of the reply", () => {
  assert.equal(
    EVENT_CSV.map((column) => column.value(event)).join(),
    "12,34,free,MatMul,256,100,,0,9,,output,float,[2],5,,0x7f,main,0,false,77",
  );
  assert.equal(new Set(EVENT_CSV.map((column) => column.csv)).size, EVENT_CSV.length);
});
