import { test } from "node:test";
import assert from "node:assert/strict";
import { csvText } from "../../../web/js/base/csv.js";
import { sortRows } from "../../../web/js/base/sorting.js";
import {
  BREAKDOWN_COLUMNS,
  BREAKDOWN_CSV,
  breakdownRows,
  withoutSmall,
} from "../../../web/js/tools/memory_profile/panels/data/breakdown_rows.js";
import { matchingOps } from "../../../web/js/tools/memory_profile/panels/views/controls.js";
import { groupByPath, groupIds, linesOf } from "../../../web/js/tools/memory_profile/panels/data/op_tree.js";

const MIB = 2 ** 20;

/** Heap 100 MiB: 60 + 2 x 10 in a/b, 4 in c, 16 unexplained; the stack beside it. */
function sampleReply(patch = {}) {
  return {
    row: 120,
    heap_bytes: 100 * MIB,
    stack_bytes: 5 * MIB,
    explained_bytes: 84 * MIB,
    unexplained_bytes: 16 * MIB,
    strings: ["", "a/b/MatMul", "a/b/Mul", "c", "output", "float", "[8]", "[9]"],
    rows: {
      op: [1, 2, 3],
      region_type: [4, 4, 4],
      data_type: [5, 5, 5],
      shape: [6, 7, 6],
      occurrences: [1, 2, 1],
      requested_bytes: [60 * MIB - 1, 10 * MIB, 4 * MIB],
      allocated_bytes: [60 * MIB, 10 * MIB, 4 * MIB],
      total_bytes: [60 * MIB, 20 * MIB, 4 * MIB],
      first_row: [7, 9, 11],
      first_step: [0, 1, 2],
      last_step: [0, 2, 2],
    },
    ...patch,
  };
}

const names = (rows) => rows.map((row) => row.op);

test("the rows of a breakdown and its named rests add up to the heap; the stack stands beside it", () => {
  const rows = breakdownRows(sampleReply());
  const inHeap = rows.filter((row) => row.kind !== "stack");
  assert.equal(
    inHeap.reduce((sum, row) => sum + row.total_bytes, 0),
    100 * MIB,
  );
  assert.ok(Math.abs(inHeap.reduce((sum, row) => sum + row.share, 0) - 1) < 1e-12);
  assert.equal(rows.find((row) => row.kind === "unexplained").op, "unused preallocated device memory");
  assert.equal(rows.find((row) => row.kind === "stack").share, null);
});

test("missed frees are a row of their own, and nothing unexplained is none", () => {
  const fewer = breakdownRows(sampleReply({ unexplained_bytes: -MIB, stack_bytes: 0 }));
  assert.equal(fewer.find((row) => row.kind === "unexplained").total_bytes, -MIB);
  assert.doesNotMatch(fewer.at(-1).op, /preallocated/);
  assert.deepEqual(names(breakdownRows(sampleReply({ unexplained_bytes: 0, stack_bytes: 0 }))), [
    "a/b/MatMul",
    "a/b/Mul",
    "c",
  ]);
});

test("what is left out is counted and summed; the rests stay", () => {
  const { kept, leftOut } = withoutSmall(breakdownRows(sampleReply()), 20 * MIB);
  assert.deepEqual(leftOut, { count: 1, bytes: 4 * MIB });
  assert.deepEqual(names(kept), ["a/b/MatMul", "a/b/Mul", "unused preallocated device memory", "stack"]);
});

test("the filter over ops is text or a pattern", () => {
  const matching = (filter) => names(matchingOps({ get: () => ({ filter }) }, breakdownRows(sampleReply())));
  assert.deepEqual(matching("matmul"), ["a/b/MatMul"]);
  assert.deepEqual(matching("^a/.*ul$"), ["a/b/MatMul", "a/b/Mul"]);
  assert.deepEqual(matching("("), []);
  assert.equal(matching("").length, 5);
});

test("a column sorts, and what has no figure comes last either way", () => {
  const rows = breakdownRows(sampleReply());
  const order = (key, descending) => names(sortRows(rows, BREAKDOWN_COLUMNS, { key, descending }));
  assert.deepEqual(order("total", true)[0], "a/b/MatMul");
  assert.deepEqual(order("share", false), [
    "c",
    "unused preallocated device memory",
    "a/b/Mul",
    "a/b/MatMul",
    "stack",
  ]);
  assert.equal(order("share", true).at(-1), "stack");
});

test("CSV holds exact bytes of every row", () => {
  const lines = csvText(BREAKDOWN_CSV, breakdownRows(sampleReply())).trimEnd().split("\n");
  assert.equal(lines.length, 6);
  assert.match(lines[0], /^OpName,TotalBytes,ShareOfHeap,AllocationSizeBytes,RequestedSizeBytes,Occurrences,/);
  assert.equal(lines[1], `a/b/MatMul,${60 * MIB},0.6,${60 * MIB},${60 * MIB - 1},1,output,float,[8],0,0,7`);
});

const byTotal = (part) => part.total_bytes;
const shown = (root, options) => {
  const { lines, leftOut } = linesOf(root, { open: new Set(), value: byTotal, descending: true, ...options });
  const size = ({ group, row }) => (group ?? row).total_bytes / MIB;
  const text = lines.map((line) => `${"  ".repeat(line.depth)}${line.label} ${size(line)}`);
  return { text, leftOut };
};

test("ops are grouped by their path, with sums; a path without a fork is one line", () => {
  const root = groupByPath(breakdownRows(sampleReply()));
  assert.equal(root.total_bytes, 105 * MIB);
  const rests = ["unused preallocated device memory 16", "stack 5"];
  assert.deepEqual(shown(root).text, ["a/b 80", ...rests, "c 4"]);
  const open = new Set(groupIds(root));
  assert.deepEqual(shown(root, { open }).text, ["a/b 80", "  MatMul 60", "  Mul 20", ...rests, "c 4"]);
  assert.deepEqual(
    root.children.map((group) => group.occurrences),
    [3, 1],
  );
});

test("the smallest size counts for groups: many small ones together stay in sight", () => {
  const root = groupByPath(breakdownRows(sampleReply()));
  const open = new Set(groupIds(root));
  const { text, leftOut } = shown(root, { open, minimum: 30 * MIB });
  assert.deepEqual(text, ["a/b 80", "  MatMul 60", "unused preallocated device memory 16", "stack 5"]);
  assert.deepEqual(leftOut, { count: 2, bytes: 24 * MIB });
});

test("one op of several shapes is a group of its shapes, and a prefix of another path keeps its own rows", () => {
  const reply = sampleReply();
  reply.strings[2] = "a/b/MatMul";
  reply.strings[3] = "a";
  const root = groupByPath(breakdownRows(reply));
  const { text } = shown(root, { open: new Set(groupIds(root)) });
  assert.deepEqual(text.slice(0, 5), [
    "a 84",
    "  b/MatMul 80",
    "    float [8] 60",
    "    float [9] 20",
    "  float [8] 4",
  ]);
});

test("a path of any depth neither overflows nor hangs", () => {
  const reply = sampleReply();
  reply.strings[1] = "x/".repeat(20000);
  const root = groupByPath(breakdownRows(reply));
  assert.equal(root.total_bytes, 105 * MIB);
  assert.equal(shown(root).text.length, 5);
});
