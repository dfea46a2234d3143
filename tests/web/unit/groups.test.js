// Who holds the memory: groups of the reply, their lines, what stands in the tiles of the bars.
import { test } from "node:test";
import assert from "node:assert/strict";
import { buildModel } from "../../../web/js/tools/memory_viewer/data/model.js";
import {
  areFrameworks,
  groupsFound,
  sharesOf,
  weighGroups,
} from "../../../web/js/tools/memory_viewer/data/group_weights.js";
import {
  groupsOf,
  membersOf,
  rulesOf,
} from "../../../web/js/tools/memory_viewer/data/groups.js";
import { openedText, parseOpened } from "../../../web/js/base/opened_keys.js";
import {
  curveOf,
  groupRowsOf,
  heldOf,
  highestStep,
  rowsOfKey,
} from "../../../web/js/tools/memory_viewer/data/group_rows.js";
import { heldByCategory } from "../../../web/js/tools/memory_viewer/data/composition.js";
import { memberLines } from "../../../web/js/tools/memory_viewer/data/group_lines.js";
import { groupTree, nodeOfKey } from "../../../web/js/tools/memory_viewer/data/group_tree.js";
import { groupsOfRows, labelOf } from "../../../web/js/tools/memory_viewer/data/labels.js";
import { flagsWithin } from "../../../web/js/tools/memory_viewer/data/search.js";
import { layoutBar, runsOf } from "../../../web/js/tools/memory_viewer/layout/bars.js";
import { sampleView } from "./sample_view.js";

const REPLY = {
  by: "source",
  rule: "lines",
  step: 1,
  live_bytes: 200,
  unknown_bytes: 10,
  rows: {
    key: ["a.py:1", "params", "(unknown)"],
    size_bytes: [100, 90, 10],
    padding_bytes: [10, 10, 0],
    size_x_lifetime: [260, 540, 60],
    buffers: [2, 2, 1],
    share: [0.5, 0.45, 0.05],
    first_member: [0, 2, 4],
    about: ["add", "", ""],
    place: ["/home/u/a.py:1", "", ""],
  },
  members: [3, 4, 0, 1, 2],
};
const share = (part) => `${100 * part} %`;

test("a group has its members, and says in whole what its key says in short", () => {
  const groups = groupsOf(REPLY);
  assert.deepEqual(membersOf(groups, "params"), [0, 1]);
  assert.deepEqual(
    groups.rows.map(({ title }) => title),
    ["/home/u/a.py:1", "params", "(unknown)"],
  );
  assert.deepEqual(membersOf(groups, "b.py:2"), []);
  assert.equal(membersOf(groups, null), null);
});

test("the rule is said where it is not the usual one, and so is what nobody knows", () => {
  assert.equal(rulesOf(groupsOf(REPLY), share), "5 % of the bytes unknown");
  const named = groupsOf({ ...REPLY, rule: "names", line_share: 0.91, unknown_bytes: 0 });
  assert.equal(rulesOf(named, share), "by op name: one line holds 91 %");
  assert.equal(rulesOf(groupsOf({ ...REPLY, by: "shape", rule: null, unknown_bytes: 0 }), share), "");
});

test("a phase says how it is known and which instruction told", () => {
  const rows = { ...REPLY.rows, phase_rule: ["read_backward", "category", ""], phase_evidence: ["t1", "", ""] };
  const [saved, inputs] = groupsOf({ ...REPLY, by: "phase", rows }).rows;
  assert.deepEqual([saved.about, saved.title], [
    "made forward, read backward",
    "a.py:1: made forward, read backward, such as t1",
  ]);
  assert.equal(inputs.about, "by its allocation");
});

test("equal buffers are one line, the largest first", () => {
  const view = sampleView();
  view.buffers.size_bytes = [60, 30, 10, 40, 40, 30];
  const model = buildModel(view);
  const groups = [{ bytes: 200, padding: 10, byteSteps: 1000 }];
  const lines = memberLines(model, { key: "g", members: [5, 3, 4] }, sharesOf(groups, "size"));
  assert.deepEqual(
    lines.map(({ row, told }) => [row, told.key, told.bytes, told.buffers, told.about]),
    [
      [3, "t1 and 1 alike", 80, 2, "2 × 40 B  f32[10]"],
      [5, "t3", 30, 1, "f32[10]"],
    ],
  );
  assert.deepEqual(
    lines.map(({ told }) => told.share),
    [80 / 200, 30 / 200],
  );
  const [both] = memberLines(model, { key: "g", members: [3, 4] }, sharesOf(groups, "lifetime"));
  assert.deepEqual([both.told.byteSteps, both.told.share], [40 * 2 + 40 * 3, 0.2]);
});

test("a tile is named by who holds it, then by its HLO name", () => {
  const model = buildModel(sampleView());
  const groups = groupsOfRows(model, groupsOf(REPLY));
  assert.deepEqual([...groups.of], [1, 1, 2, 0, 0, -1]);
  assert.deepEqual(
    [0, 2, 3, 5].map((row) => labelOf(model, row, groups)),
    ["params  p0", "out", "a.py:1  t1", "t3"],
  );
  assert.equal(labelOf(model, 3, null), "a.py:1  t1", "its own line until the groups are known");
  assert.equal(labelOf(model, 3, { ...groups, by: "shape" }), "a.py:1  t1");
});

test("a group keeps its place, and with it its tint, from step to step", () => {
  const model = buildModel(sampleView());
  const first = groupsOfRows(model, groupsOf(REPLY));
  const rows = { ...REPLY.rows, key: ["later", REPLY.rows.key[1], REPLY.rows.key[0]] };
  const then = groupsOfRows(model, groupsOf({ ...REPLY, rows }), first);
  assert.deepEqual(then.keys, [...first.keys, "later"]);
  assert.deepEqual([...then.of], [1, 1, 0, 3, 3, -1]);
  assert.deepEqual(groupsOfRows(model, groupsOf({ ...REPLY, by: "shape" }), first).keys, first.keys, "of another way");
});

test("rows of the first reply are found by the numbers that they will have", () => {
  const model = { ...buildModel(sampleView()), count: 3, placeInView: [0, 3, Infinity] };
  assert.deepEqual([...groupsOfRows(model, groupsOf(REPLY)).of], [1, 0, -1]);
});

test("neighbours of one group too narrow for names are named together", () => {
  const model = buildModel(sampleView());
  const groups = groupsOfRows(model, groupsOf(REPLY));
  const bar = layoutBar(model, Uint32Array.from([3, 4, 0]), 80);
  assert.deepEqual(runsOf(bar, groups), []);
  const wide = layoutBar(model, Uint32Array.from([3, 4, 0]), 90);
  assert.deepEqual(runsOf(wide, groups), [{ key: "a.py:1", x0: 0, x1: 56.25 }]);
  assert.deepEqual(runsOf(wide, null), []);
});

const STACKS = groupsOf({
  ...REPLY,
  by: "stack",
  rows: { ...REPLY.rows, key: ["t:9;g:5;n:1", "t:9;g:5;n:7", "params"] },
});

test("shares are of the weight: bytes, padding, or bytes times the steps that they live", () => {
  const { rows } = groupsOf(REPLY);
  const shares = (weight) => weighGroups(rows, weight).map((group) => group.share);
  assert.deepEqual(shares("size"), [0.5, 0.45, 0.05]);
  assert.deepEqual(shares("padding"), [0.5, 0.5, 0]);
  assert.deepEqual(shares("lifetime"), [260 / 860, 540 / 860, 60 / 860]);
});

test("groups are found by their key and by what they are about", () => {
  const found = (query) => groupsFound(weighGroups(groupsOf(REPLY).rows, "size"), query);
  assert.deepEqual(
    ["", "param", "ADD", "nothing"].map((query) => found(query).map(({ key }) => key)),
    [["a.py:1", "params", "(unknown)"], ["params"], ["a.py:1"], []],
  );
});

test("frameworks are names with commas between", () => {
  for (const text of ["jax", "+mylib, other/part", "a-b,c.d"]) assert.ok(areFrameworks(text), text);
  for (const text of ["", "a,,b", "a;b", "a b,c;"]) assert.ok(!areFrameworks(text), text);
});

test("stacks are a tree: the larger first, what all have in common in one node", () => {
  const tree = groupTree(STACKS);
  assert.deepEqual(tree.names, ["all", "t:9 › g:5", "n:1", "n:7", "params"]);
  assert.deepEqual(tree.keys, ["", "t:9;g:5", "t:9;g:5;n:1", "t:9;g:5;n:7", "params"]);
  assert.deepEqual([...tree.bytes], [200, 190, 100, 90, 10]);
  assert.deepEqual([tree.parent, tree.depth, tree.end], [
    [-1, 0, 1, 1, 0],
    [0, 1, 2, 2, 1],
    [5, 4, 3, 4, 5],
  ]);
  assert.deepEqual([nodeOfKey(tree, null), nodeOfKey(tree, "t:9;g:5"), nodeOfKey(tree, "gone")], [0, 1, 0]);
});

test("a path of a great many frames ends in one for the rest", () => {
  const key = Array.from({ length: 50000 }, (_, i) => `f${i}`).join(";");
  const tree = groupTree({ ...STACKS, rows: [{ ...STACKS.rows[0], key }] });
  assert.deepEqual([tree.count, tree.keys[1] === key], [2, true]);
});

test("a path stands for all that goes on from it, and for nothing that only begins like it", () => {
  assert.deepEqual(membersOf(STACKS, "t:9;g:5"), [3, 4, 0, 1]);
  assert.deepEqual(membersOf(STACKS, "t:9;g"), []);
  assert.deepEqual(membersOf({ ...STACKS, by: "shape" }, "t:9;g:5"), [], "other keys are no paths");
});

test("what is found within a group", () => {
  assert.deepEqual([...flagsWithin(null, [1, 2], 4)], [0, 1, 1, 0]);
  assert.deepEqual([...flagsWithin(Uint8Array.of(1, 0, 1, 1), [1, 2], 4)], [0, 0, 1, 0]);
  assert.equal(flagsWithin(null, null, 4), null);
});

test("the rows of a group at any step, and what it holds over program order", () => {
  const model = buildModel(sampleView());
  const strings = ["(unknown)", "a.py:1", "params"];
  const all = groupRowsOf({ by: "source", key_of_row: [2, 2, 0, 1, 1, 0], strings });
  const curve = (key, of = model) => [...curveOf(of, heldOf("source", key, rowsOfKey(all, key)))];
  assert.deepEqual([...rowsOfKey(all, "a.py:1")], [3, 4]);
  assert.deepEqual(curve("a.py:1"), [40, 100, 60, 60, 0, 0]);
  assert.deepEqual(curve("params"), [90, 90, 90, 90, 90, 90]);
  assert.deepEqual(curve("(unknown)"), [10, 10, 10, 40, 40, 10]);
  const damaged = { ...model, heap: Float64Array.of(...model.heap.subarray(0, 5), 107) };
  const sum = strings.map((key) => curve(key, damaged)).reduce((a, b) => a.map((bytes, i) => bytes + b[i]));
  assert.deepEqual(sum, [...damaged.heap], "what no row explains is unknown");
  assert.equal(highestStep(Float64Array.from(curve("a.py:1"))), 1);
  assert.equal(highestStep(new Float64Array(3)), null);
  assert.equal(heldOf("source", null, [1]), null);
});

test("a path's rows are those of all that go on from it", () => {
  const all = groupRowsOf({ by: "stack", key_of_row: [0, 1, 2], strings: ["t:9;g:5", "t:9;g:51", "t:9;g:5;n:1"] });
  assert.deepEqual([...rowsOfKey(all, "t:9;g:5")], [0, 2]);
  assert.equal(heldOf("stack", "t:9;g:5", [0, 2]).name, "g:5");
});

test("what a group holds of each category at a step", () => {
  const model = buildModel(sampleView());
  assert.deepEqual([...heldByCategory(model, [0, 3, 4], 1).values()], [60, 0, 0, 0, 100]);
  assert.deepEqual([...heldByCategory(model, [0, 3, 4], 2).values()], [60, 0, 0, 0, 60]);
});

test("groups that are open are one word, as many as an address has room for", () => {
  const keys = ["train.py:9;gpt.py:53", "params['a'][0]", "(unknown)"];
  assert.deepEqual(parseOpened(openedText(keys)), keys);
  assert.equal(openedText([]), null);
  assert.deepEqual(parseOpened(null), []);
  assert.deepEqual(parseOpened(openedText(["a", "x".repeat(3000), "b"])), ["a"]);
});
