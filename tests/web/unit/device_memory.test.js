import { test } from "node:test";
import assert from "node:assert/strict";
import {
  buildModel,
  chosenGroups,
  figuresFor,
  nodeLabel,
  nodeSource,
} from "../../../web/js/tools/device_memory/data/model.js";
import { csvText } from "../../../web/js/base/csv.js";
import { parseSort, sortRows } from "../../../web/js/base/sorting.js";
import { COLUMNS, rowsFound, topRows } from "../../../web/js/tools/device_memory/data/top_rows.js";
import { foundTotal, matchFunctions } from "../../../web/js/tools/device_memory/data/search.js";
import { findingRows } from "../../../web/js/tools/device_memory/data/findings.js";
import { layoutIcicle, neighbour, nodeAt } from "../../../web/js/base/icicle_layout.js";
import { choicesOf } from "../../../web/js/tools/device_memory/views/choices.js";

/**
 *     0 all 100 ─ 1 main 100 ─ 2 train 70 ─ 3 train 20        20 of cpu:1
 *                            │            └ 4 ones  50        40 of cpu:0, 10 of cpu:1
 *                            └ 5 ones  30                     30 of cpu:0; and 4 executables
 */
const REPLY = {
  file: "memory.prof",
  strings: [
    ...["", "main", "train", "ones", "/u/train.py", "/v/site-packages/ones.py"],
    ...["buffer", "executable", "cpu:0", "cpu:1"],
  ],
  groups: { kind: [6, 6, 7], device: [8, 9, 0], bytes: [70, 30, 0], count: [2, 2, 4] },
  functions: { name: [1, 2, 3], file: [4, 4, 5], is_library: [false, false, true] },
  frames: { function: [0, 1, 2], line: [10, 20, 30] },
  nodes: { parent: [-1, 0, 1, 2, 2, 1], frame: [-1, 0, 1, 1, 2, 2] },
  parts: {
    node: [0, 0, 0, 1, 1, 1, 2, 2, 3, 4, 4, 5, 5],
    group: [0, 1, 2, 0, 1, 2, 0, 1, 1, 0, 1, 0, 2],
    self_bytes: [0, 0, 0, 0, 0, 0, 0, 0, 20, 40, 10, 30, 0],
    self_count: [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 4],
    total_bytes: [70, 30, 0, 70, 30, 0, 40, 30, 20, 40, 10, 30, 0],
    total_count: [2, 2, 4, 2, 2, 4, 1, 2, 1, 1, 1, 1, 4],
  },
};
const model = buildModel(REPLY);
const ALL = { kind: null, device: null };

test("the tree's shape follows from the parents", () => {
  assert.deepEqual([...model.depth], [0, 1, 2, 3, 3, 2]);
  assert.deepEqual([...model.end], [6, 6, 5, 4, 5, 6]);
  assert.equal(nodeSource(model, 4), "/v/site-packages/ones.py:30");
  assert.equal(nodeLabel(model, 2), "train   train.py:20");
  assert.equal(nodeLabel(model, 4), "ones");
  assert.equal(nodeLabel(model, 0), "all");
});

test("figures are of the chosen kind and device", () => {
  assert.deepEqual([...figuresFor(model, ALL).totalBytes], [100, 100, 70, 20, 50, 30]);
  assert.deepEqual([...figuresFor(model, { kind: null, device: "cpu:0" }).totalBytes], [70, 70, 40, 0, 40, 30]);
  assert.deepEqual([...figuresFor(model, { kind: "executable", device: null }).totalCount], [4, 4, 0, 0, 0, 4]);
  assert.deepEqual(chosenGroups(model, { kind: "buffer", device: "" }), [false, false, false]);
});

test("what libraries hold is told of the reader's function that called them, where it holds most", () => {
  const told = (choice, byCount = false) =>
    findingRows(model, { figures: figuresFor(model, choice), byCount, choice, unit: "bytes" });
  assert.deepEqual(
    told(ALL).map(({ text, node }) => [text, node]),
    [
      ["train holds 70 B in 3 objects (70.0 %)", 2],
      ["main holds 30 B in 5 objects (30.0 %)", 1],
    ],
  );
  assert.deepEqual(
    told({ kind: "executable", device: null }, true).map((one) => one.text),
    ["main holds 4 executables (100.0 %)"],
  );
  const own = { ...ALL, device: "cpu:1" };
  assert.deepEqual(
    told(own).map(({ text, node }) => [text, node]),
    [["train holds 30 B in 2 objects (100.0 %)", 3]],
  );
});

test("the side panel sums each kind and device", () => {
  const groups = model.groups;
  assert.deepEqual(
    choicesOf(groups, groups, "device", "all devices").map((one) => [one.value, one.bytes, one.title]),
    [
      [null, 100, "all devices: 100 B in 8 objects"],
      ["", 0, "(not told): 0 B in 4 objects"],
      ["cpu:0", 70, "cpu:0: 70 B in 2 objects"],
      ["cpu:1", 30, "cpu:1: 30 B in 2 objects"],
    ],
  );
  const many = ["cpu:10", "cpu:2"].map((device) => ({ kind: "buffer", device, bytes: 1, count: 1 }));
  assert.deepEqual(
    choicesOf(many, many, "device", "all").map((one) => one.label),
    ["all", "cpu:2", "cpu:10"],
  );
});

test("a function that calls itself counts once in its total", () => {
  const rows = topRows(model, figuresFor(model, ALL));
  const of = (name) => rows.find((row) => row.name === name);
  assert.deepEqual([of("main").selfBytes, of("main").totalBytes], [0, 100]);
  assert.deepEqual([of("train").selfBytes, of("train").totalBytes], [20, 70]);
  assert.deepEqual([of("ones").selfBytes, of("ones").totalBytes, of("ones").totalCount], [80, 80, 7]);
  assert.equal(topRows(model, figuresFor(model, { kind: "executable", device: null })).length, 2);
});

test("rows sort, filter and export", () => {
  const rows = topRows(model, figuresFor(model, ALL));
  const sorted = (word, flags = null) => sortRows(rowsFound(rows, flags), COLUMNS, parseSort(word, COLUMNS, "total"));
  const names = (word, flags) => sorted(word, flags).map((row) => row.name);
  assert.deepEqual(names(null), ["main", "ones", "train"]);
  assert.deepEqual(names("self"), ["ones", "train", "main"]);
  assert.deepEqual(names("function"), ["main", "ones", "train"]);
  assert.deepEqual(names("function-desc"), ["train", "ones", "main"]);
  assert.deepEqual(names(null, matchFunctions(model, "train.py")), ["main", "train"]);
  assert.equal(csvText(COLUMNS, sorted("self")).split("\n")[1], "ones,80,80,7,7,/v/site-packages/ones.py");
});

test("what a search found is counted once for each stack", () => {
  const totals = figuresFor(model, ALL).totalBytes;
  assert.equal(foundTotal(model, matchFunctions(model, "train"), totals), 100); // main's file is train.py
  assert.equal(foundTotal(model, matchFunctions(model, "^train$"), totals), 70);
  assert.equal(foundTotal(model, matchFunctions(model, "ones"), totals), 80);
  assert.equal(matchFunctions(model, " "), null);
});

test("the icicle is to scale, below the chosen frame", () => {
  const totals = figuresFor(model, ALL).totalBytes;
  const whole = layoutIcicle(model, totals, 0, 1000);
  assert.equal(whole.rows, 4);
  assert.deepEqual(
    whole.rects.map((rect) => [rect.node, rect.row, rect.x0, rect.x1]),
    [
      [0, 0, 0, 1000],
      [1, 1, 0, 1000],
      [2, 2, 0, 700],
      [3, 3, 0, 200],
      [4, 3, 200, 700],
      [5, 2, 700, 1000],
    ],
  );
  const zoomed = layoutIcicle(model, totals, 2, 700);
  assert.deepEqual([zoomed.rows, zoomed.rects.length, zoomed.rects[1].x1], [2, 3, 200]);
  assert.equal(nodeAt(whole, 20, 699, 45), 2);
  assert.equal(nodeAt(whole, 20, 701, 45), 5);
  assert.equal(nodeAt(whole, 20, 800, 65), -1);
});

test("frames under a pixel are merged and counted", () => {
  const totals = figuresFor(model, ALL).totalBytes;
  const narrow = layoutIcicle(model, totals, 0, 2.5); // train 1.75, ones 0.75; below train 0.5 and 1.25
  assert.equal(narrow.merged, 2);
  assert.deepEqual(
    narrow.rects.map((rect) => rect.node),
    [0, 1, 2, -1, 4, -1],
  );
  const nothing = layoutIcicle(model, new Float64Array(6), 0, 100);
  assert.deepEqual([nothing.rects.length, nothing.merged], [1, 0]);
});

test("arrow keys walk the frames", () => {
  const layout = layoutIcicle(model, figuresFor(model, ALL).totalBytes, 0, 1000);
  const walk = (node, ...keys) => keys.reduce((at, key) => neighbour(layout, model, at, key), node);
  assert.equal(walk(0, "ArrowDown", "ArrowDown", "ArrowDown"), 4); // the largest
  assert.equal(walk(4, "ArrowLeft"), 3);
  assert.equal(walk(4, "ArrowRight"), 4);
  assert.equal(walk(2, "ArrowRight"), 5);
  assert.equal(walk(4, "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp"), 0);
  assert.equal(walk(5, "ArrowDown"), 5);
});
