import { test } from "node:test";
import assert from "node:assert/strict";
import {
  drawnWords,
  freeWords,
  holesWords,
  laneWords,
  leftOutWords,
  stepWords,
  timelineSummary,
} from "../../../web/js/tools/memory_viewer/data/block_words.js";
import { holderNumbers } from "../../../web/js/tools/memory_viewer/data/labels.js";
import { buildModel } from "../../../web/js/tools/memory_viewer/data/model.js";
import { buildBlockIndex } from "../../../web/js/tools/memory_viewer/layout/block_index.js";
import { blockAt, buildBlocks, nextInStack } from "../../../web/js/tools/memory_viewer/layout/blocks.js";
import { bytesOf, holesAt, sumOfHoles } from "../../../web/js/tools/memory_viewer/layout/holes.js";
import { extentOf, laneAt, layOutLanes } from "../../../web/js/tools/memory_viewer/layout/lanes.js";
import { rasterBlocks } from "../../../web/js/tools/memory_viewer/layout/raster.js";
import {
  foldedText,
  isFolded,
  parseFolded,
  partsInWindow,
  wholeBars,
} from "../../../web/js/tools/memory_viewer/layout/shown_blocks.js";
import { range } from "../../../web/js/base/range.js";
import { sampleView } from "./sample_view.js";

const model = buildModel(sampleView());
const blocks = buildBlocks(model);
const everything = { x: range(0, 6), y: range(0, 210) };
const stylesOf = (color, count) => ({
  fill: Uint32Array.of(color),
  edge: Uint32Array.of(color),
  ofBlock: new Uint8Array(count),
});

/** Two temporary allocations with buffers, one that nothing tells about, and the bands. */
function severalLanes() {
  const view = sampleView();
  view.buffers.allocation[5] = 4;
  view.allocations = { index: [0, 1, 2, 4, 3, 5], size_bytes: [60, 30, 10, 50, 110, 7], category: [0, 1, 2, 4, 4, 4] };
  return buildModel(view);
}

const placesOf = (lanes) => lanes.map(({ key, allocation, begin, end }) => [key, allocation, begin, end]);
const indexesOf = (found) => [...found].sort((a, b) => a - b);

test("lanes: every byte of the total has its place, temporary allocations from the ground", () => {
  assert.deepEqual(placesOf(layOutLanes(model)), [
    ["temporary", 3, 0, 110],
    ["parameter", null, 110, 170],
    ["donated", null, 170, 200],
    ["output", null, 200, 210],
  ]);
  assert.equal(blocks.height, model.totals.total_allocation_bytes);
});

test("lanes: several temporary allocations stand on each other, one without a simulation too", () => {
  const lanes = layOutLanes(severalLanes());
  assert.deepEqual(placesOf(lanes).slice(0, 3), [
    ["temporary", 3, 0, 110],
    ["temporary", 4, 110, 160],
    ["temporary", 5, 160, 167],
  ]);
  assert.deepEqual(extentOf(lanes, 4), { begin: 0, end: 167 });
  assert.equal(extentOf(lanes, 3), null);
  assert.equal(laneAt(lanes, 160)?.allocation, 5);
  assert.equal(laneAt(lanes, 1000), null);
  assert.match(laneWords(lanes[2], "auto"), /^allocation 5 {2}7 B {2}not simulated$/);
});

test("blocks: those of the bands first, then temporary buffers where they lie while they live", () => {
  assert.deepEqual([...blocks.row], [0, 1, 2, 4, 3, 5], "larger temporary ones first");
  assert.deepEqual([...blocks.y0], [110, 170, 200, 40, 0, 0]);
  assert.deepEqual([...blocks.y1], [170, 200, 210, 100, 40, 30]);
  assert.deepEqual([blocks.x0[0], blocks.x1[0]], [0, 6], "the whole program");
  assert.deepEqual([blocks.x0[3], blocks.x1[3]], [1, 4]);
  const shared = buildBlocks(severalLanes());
  assert.equal(shared.y0[shared.indexOfRow[5]], 110, "t3 lies at the begin of allocation 4");
});

test("a band stacks its allocations in the order of the model", () => {
  const view = sampleView();
  view.buffers.category[1] = 0;
  const two = buildBlocks(buildModel(view));
  assert.deepEqual(two.bands.map(({ first, end }) => [first, end]), [[0, 2], [2, 3]]);
  assert.deepEqual([...two.y0.slice(0, 3)], [110, 170, 200]);
});

test("the smallest block under the cursor is found; a thin one is as thick as a pixel", () => {
  const at = (one, x, y, pixelX) => blockAt(one, buildBlockIndex(one).within(x - pixelX, x), x, y, pixelX, 1);
  assert.equal(blocks.row[at(blocks, 2, 50, 0.1)], 4);
  assert.equal(at(blocks, 5.5, 50, 0.1), -1);
  assert.equal(at(blocks, 6, 10, 0.1), -1);
  assert.equal(blocks.row[at(blocks, 6, 10, 4)], 5);
  assert.equal(blocks.row[at(blocks, 5.5, 180, 0.1)], 1, "an argument, at any step");
  const view = sampleView();
  view.buffers.offset[3] = 40; // t1 shares addresses with t2, which is larger
  const shared = buildBlocks(buildModel(view));
  assert.equal(shared.row[at(shared, 1.5, 50, 0.1)], 3);
});

/** Any numbers, the same ones every time. */
function* numbers(seed) {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Blocks as of one lane of 1000 bytes and 500 steps, wherever they fall. */
function anyBlocks(count, seed) {
  const next = numbers(seed);
  const draw = (most) => Math.floor(next.next().value * most);
  const any = () => ({ x: draw(500), life: draw(40), y: draw(900), size: 1 + draw(100) });
  const all = Array.from({ length: count }, any);
  all.sort((a, b) => a.x - b.x);
  const column = (of) => Float64Array.from(all, of);
  return {
    count,
    row: Uint32Array.from(all, (_, i) => i),
    indexOfRow: Int32Array.from(all, (_, i) => i),
    x0: column(({ x }) => x),
    x1: column(({ x, life }) => x + life),
    y0: column(({ y }) => y),
    y1: column(({ y, size }) => y + size),
    lanes: [{ category: 4, key: "temporary", allocation: 1, begin: 0, end: 1000, count }],
    bands: [],
    steps: 500,
    height: 1000,
  };
}

test("the index finds what a look at every block finds, in any window", () => {
  for (const count of [0, 1, 2, 7, 64, 1000]) {
    const some = anyBlocks(count, count + 1);
    const index = buildBlockIndex(some);
    for (let begin = -3; begin < 520; begin += 17)
      for (const width of [0, 1, 30, 600]) {
        const wanted = [...some.row].filter((i) => some.x0[i] <= begin + width && some.x1[i] >= begin);
        assert.deepEqual(indexesOf(index.within(begin, begin + width)), wanted);
        assert.equal(index.within(begin, begin + width, wanted.length - 1), null, "more than wanted");
      }
  }
});

test("the index does without an order of the rows", () => {
  const some = anyBlocks(50, 3);
  some.x0.reverse();
  some.x1.reverse();
  const wanted = [...some.row].filter((i) => some.x0[i] <= 200 && some.x1[i] >= 190);
  assert.deepEqual(indexesOf(buildBlockIndex(some).within(190, 200)), wanted);
});

test("holes: what no live block covers, to the byte, at every step", () => {
  const some = anyBlocks(300, 9);
  const index = buildBlockIndex(some);
  for (let step = 0; step < 540; step += 1) {
    const used = new Uint8Array(1000);
    for (let i = 0; i < some.count; i += 1)
      if (some.x0[i] <= step && step < some.x1[i]) used.fill(1, some.y0[i], some.y1[i]);
    const [{ holes, freeBytes, largest }] = holesAt(some, index.within(step, step), step);
    const free = new Uint8Array(1000).fill(1);
    for (const { begin, end } of holes) free.fill(0, begin, end);
    assert.deepEqual(free, used, `step ${step}`);
    assert.equal(freeBytes, used.filter((one) => one === 0).length);
    assert.equal(largest === null ? 0 : bytesOf(largest), Math.max(0, ...holes.map(bytesOf)));
    for (let i = 1; i < holes.length; i += 1) assert.ok(holes[i].begin > holes[i - 1].end, "apart from each other");
  }
});

test("holes: bytes in use and free bytes are the allocation, at every step of a program", () => {
  const index = buildBlockIndex(blocks);
  for (let step = 0; step < model.steps; step += 1) {
    const { freeBytes, bytes } = sumOfHoles(holesAt(blocks, index.within(step, step), step));
    assert.equal(freeBytes + model.heap[step] - model.totals.indefinite_bytes, 110, `step ${step}`);
    assert.equal(bytes, 110);
  }
});

test("holes: of each lane by itself; of one without a simulation nothing is known", () => {
  const several = buildBlocks(severalLanes());
  const lanes = holesAt(several, buildBlockIndex(several).within(3, 3), 3);
  assert.deepEqual(
    lanes.map(({ lane, holes }) => [lane.allocation, holes]),
    [
      [3, [range(0, 40), range(100, 110)]],
      [4, [range(140, 160)]],
    ],
  );
  const sum = sumOfHoles(lanes);
  assert.deepEqual([sum.bytes, sum.freeBytes, sum.count, sum.largest?.hole], [160, 70, 3, range(0, 40)]);
  const words = holesWords(sum, "auto", lanes.length);
  assert.equal(words, "70 of 160 B free in 3 ranges, the largest 40 B at offset 0 B of allocation 3");
  assert.equal(freeWords({ bytes: 2 ** 30, freeBytes: 2 ** 20, count: 1 }, "auto"), "1.00 MiB of 1.00 GiB free");
  assert.deepEqual([stepWords(model, 3, false), stepWords(model, 3, true)], ["step 3, t3", "step 3"]);
});

test("folded bands: by name in the address, one bar each, their blocks not drawn", () => {
  assert.deepEqual([...parseFolded("output,parameter,temporary,nonsense")], ["output", "parameter"]);
  assert.equal(foldedText(parseFolded("output,parameter")), "parameter,output");
  assert.equal(foldedText(parseFolded(null)), null);
  const folded = new Set(["parameter", "output"]);
  assert.deepEqual(
    [0, 1, 2, 3].map((i) => isFolded(blocks, folded, i)),
    [true, false, true, false],
  );
  const bars = wholeBars(blocks, folded);
  assert.deepEqual([[...bars.y0], [...bars.y1], [...bars.x1]], [[110, 200], [170, 210], [6, 6]]);
  const untold = wholeBars(buildBlocks(severalLanes()), new Set());
  assert.deepEqual([untold.of[0].lane.allocation, untold.y0[0], untold.y1[0]], [5, 160, 167]);
});

test("a frame draws what lies in the window, in one order, wherever it is looked up", () => {
  const some = anyBlocks(400, 5);
  const index = buildBlockIndex(some);
  const listOf = (parts) => parts.flatMap(({ begin, end, of }) => rowsOf(begin, end, of));
  const rowsOf = (begin, end, of) => Array.from({ length: end - begin }, (_, i) => (of ? of[begin + i] : begin + i));
  const nothing = new Set();
  assert.deepEqual(listOf(partsInWindow(some, index, range(0, 500), nothing, 64)), [...some.row]);
  const narrow = partsInWindow(some, index, range(100, 104), nothing, 8);
  assert.ok(narrow.length > 1 && narrow.every(({ begin, end }) => end - begin <= 8));
  const wanted = [...some.row].filter((i) => some.x0[i] <= 104 && some.x1[i] >= 100);
  assert.deepEqual(listOf(narrow), wanted);
});

test("a frame leaves out folded bands, in a wide window and in a narrow one", () => {
  const folded = new Set(["donated"]);
  const all = { within: () => null };
  const runs = (parts) => parts.map(({ begin, end }) => [begin, end]);
  assert.deepEqual(runs(partsInWindow(blocks, all, range(0, 6), folded, 100)), [[0, 1], [2, 6]]);
  const found = { within: () => Uint32Array.of(4, 1, 0) };
  assert.deepEqual([...partsInWindow(blocks, found, range(0, 1), folded, 100)[0].of], [0, 4]);
});

test("the keys go from block to block at a step, from the lowest in sight", () => {
  const live = buildBlockIndex(blocks).within(1, 1);
  const next = (from, direction) => nextInStack(blocks, live, 1, from, direction, range(0, 210));
  const rows = [];
  for (let at = next(null, 1); at >= 0; at = next(at, 1)) rows.push(blocks.row[at]);
  assert.deepEqual(rows, [3, 4, 0, 1, 2]);
  assert.equal(blocks.row[next(blocks.indexOfRow[0], -1)], 4);
  assert.equal(next(blocks.indexOfRow[3], -1), -1, "nothing below");
  assert.equal(blocks.row[nextInStack(blocks, live, 1, null, 1, range(115, 210))], 0);
});

test("raster: blocks in their place, thin ones kept and counted, outside ones left out", () => {
  const target = { width: 6, height: 21, pixels: new Uint32Array(126) };
  const drawn = rasterBlocks(blocks, everything, target, stylesOf(1, 6));
  assert.deepEqual([drawn.visible, drawn.merged], [6, 0]);
  assert.equal(
    target.pixels.reduce((sum, pixel) => sum + pixel, 0),
    10 * 6 + 3 * 6 + 2 * 4 + 2 * 3,
  );
  assert.equal(target.pixels[11 * 6 + 1], 1, "t2 from offset 40 to 100");
  assert.equal(target.pixels[10 * 6 + 1], 0, "free above it");
  assert.equal(target.pixels[9 * 6 + 1], 1, "the parameter");
  const small = { width: 1, height: 1, pixels: new Uint32Array(1) };
  assert.equal(rasterBlocks(blocks, everything, small, stylesOf(1, 6)).merged, 6);
  assert.equal(rasterBlocks(blocks, { x: range(5, 6), y: range(0, 110) }, target, stylesOf(1, 6)).visible, 0);
});

test("raster: a list of blocks is drawn as the blocks are", () => {
  const draw = (part) => {
    const target = { width: 6, height: 21, pixels: new Uint32Array(126) };
    rasterBlocks(blocks, everything, target, stylesOf(7, 6), part);
    return target.pixels;
  };
  const later = { begin: 1, end: 3, of: Uint32Array.of(0, 3, 5) };
  assert.deepEqual(draw(later), draw({ begin: 0, end: 2, of: Uint32Array.of(3, 5) }));
  assert.notDeepEqual(draw({ begin: 0, end: 1, of: Uint32Array.of(5) }), draw({ begin: 0, end: 1 }));
});

test("raster: a block cut by the view stays inside the pixels", () => {
  const target = { width: 50, height: 50, pixels: new Uint32Array(2500), labelWidth: 10, labelHeight: 10 };
  const drawn = rasterBlocks(blocks, { x: range(2, 3), y: range(60, 70) }, target, stylesOf(9, 6));
  assert.deepEqual(drawn.large, [3]);
  assert.ok(target.pixels.every((pixel) => pixel === 9));
});

test("rows of one holder have one number at any step", () => {
  const view = sampleView();
  view.strings.push("/home/u/a.py:1", "b.py:2");
  view.buffers.source = [0, 0, 0, 10, 6, 11];
  const own = buildModel(view);
  const of = Int32Array.of(1, 1, 1, 0, 0, -1);
  assert.deepEqual([...holderNumbers(own, { by: "source", keys: ["a.py:1", "params"], of })].slice(3, 5), [0, 0]);
  const none = Int32Array.from(own.id, () => -1);
  const numbers = [...holderNumbers(own, { by: "source", keys: ["a.py:1", "params"], of: none })];
  assert.deepEqual(numbers.slice(0, 5), [-1, -1, -1, 0, 0], "its line names the group");
  assert.ok(numbers[5] >= 2, "a line that no group is called by");
  assert.equal(holderNumbers(own, null)[0], -1);
});

test("how many blocks are drawn is said, and how many are in folded bars", () => {
  const words = (visible, merged, folded) => drawnWords({ visible, merged }, blocks, new Set(folded));
  assert.equal(words(6, 0, []), "6 blocks");
  assert.equal(words(4, 1, ["parameter", "output"]), "6 blocks, 2 folded, 1 under a pixel merged");
  assert.equal(words(3, 0, ["output"]), "3 of 6 blocks in view, 1 folded");
});

test("what is left out is said, and nothing where nothing is", () => {
  assert.match(leftOutWords(model.totals, blocks, "auto"), /^thread-local 5 B, in no total, left out$/);
  assert.equal(leftOutWords({ ...model.totals, thread_local_bytes: 0 }, blocks, "auto"), "");
  const more = { ...model.totals, total_allocation_bytes: 260, thread_local_bytes: 0 };
  assert.equal(leftOutWords(more, blocks, "auto"), "50 B of the total in no allocation");
  assert.match(
    timelineSummary(blocks),
    /3 temporary buffers in 1 allocation by offset and program order; Parameters 60 B 1 buffer; Donated 30 B/,
  );
});
