import { test } from "node:test";
import assert from "node:assert/strict";
import {
  barsOf,
  breakdownRows,
  exceededBytes,
  marksOf,
  sentenceOf,
  wantedBytes,
} from "../../../web/js/tools/out_of_memory/data/facts.js";
import { rankedFixes } from "../../../web/js/tools/out_of_memory/data/fixes.js";
import { bufferParams, moduleParams } from "../../../web/js/tools/out_of_memory/data/links.js";
import { KINDS, WORDINGS, kindOf } from "../../../web/js/tools/out_of_memory/data/kinds.js";
import {
  MAX_BYTES,
  SHOWN_MAX,
  isCut,
  sourceOfBlob,
  sourceOfText,
} from "../../../web/js/tools/out_of_memory/data/source.js";
import { SAMPLE } from "../../../web/js/tools/out_of_memory/data/sample.js";

const GIB = 2 ** 30;
const FIGURES = [
  "needed_bytes",
  "capacity_bytes",
  "exceeded_bytes",
  "requested_bytes",
  "free_bytes",
  "reservable_bytes",
  "tensorcore_bytes",
  "sparsecore_bytes",
];

function messageOf(kind, told) {
  return { ...Object.fromEntries(FIGURES.map((key) => [key, null])), kind, module: null, breakdown: {}, ...told };
}

test("the sentence of a compile-time message names program, need, capacity and what is missing", () => {
  const message = messageOf("compile_oom", {
    module: "jit_step",
    memory_space: "hbm",
    needed_bytes: 18 * GIB,
    capacity_bytes: 15.75 * GIB,
  });
  const sentence = sentenceOf(message);
  for (const words of ["jit_step", "18.00 GiB of HBM", "15.75 GiB", "2.25 GiB too little"])
    assert.ok(sentence.includes(words), `${words} in ${sentence}`);
});

test("every kind has a sentence, also when all its figures were cut off", () => {
  for (const kind of [...Object.keys(KINDS), "a_kind_of_tomorrow"]) {
    const sentence = sentenceOf(messageOf(kind, {}));
    assert.ok(sentence.length > 20, kind);
    assert.doesNotMatch(sentence, /null|undefined|NaN/, kind);
  }
  assert.equal(kindOf({ kind: "a_kind_of_tomorrow" }).title, "a_kind_of_tomorrow");
});

test("what was wanted is the need, else the request, else both cores together", () => {
  assert.equal(wantedBytes(messageOf("compile_oom", { needed_bytes: 5, requested_bytes: 3 })), 5);
  assert.equal(wantedBytes(messageOf("runtime_allocation", { requested_bytes: 3 })), 3);
  const cores = { tensorcore_bytes: 3, sparsecore_bytes: 4 };
  assert.equal(wantedBytes(messageOf("tensorcore_sparsecore_oom", cores)), 7);
  assert.equal(wantedBytes(messageOf("tensorcore_sparsecore_oom", { tensorcore_bytes: 3 })), null);
});

test("a program that would fit exceeds nothing", () => {
  assert.equal(exceededBytes(messageOf("compile_oom", { needed_bytes: 5, capacity_bytes: 8 })), null);
  assert.equal(exceededBytes(messageOf("compile_oom", { needed_bytes: 9, capacity_bytes: 8 })), 1);
  assert.equal(exceededBytes(messageOf("compile_oom", { exceeded_bytes: 2 })), 2);
});

test("all bars are to one scale, and what is over the capacity is known", () => {
  const totals = { argument_bytes: 18, output_bytes: 0, constant_bytes: 0, temporary_bytes: 1 };
  const told = { needed_bytes: 18, capacity_bytes: 15, joined: { totals } };
  const { bars, capacity, scale } = barsOf(messageOf("compile_oom", told));
  assert.equal(capacity, 15);
  assert.equal(scale, 19);
  assert.deepEqual(
    bars.map((bar) => [bar.label, bar.bytes, bar.over, bar.segments.length]),
    [
      ["wanted", 18, 3, 1],
      ["its buffers", 19, 0, 2],
    ],
  );
});

test("an allocator's bar stands on what is in use already", () => {
  const told = { requested_bytes: 4, capacity_bytes: 10, breakdown: { InUse: 9, NumAllocs: 77 } };
  const [bar] = barsOf(messageOf("gpu_allocator", told)).bars;
  assert.deepEqual(
    bar.segments.map((segment) => segment.bytes),
    [9, 4],
  );
  assert.equal(bar.over, 3);
});

test("so does that of a program whose allocator told what was in use", () => {
  const told = { requested_bytes: 4, capacity_bytes: null, breakdown: { InUse: 9, Limit: 10 } };
  const { bars, capacity } = barsOf(messageOf("gpu_allocation", told));
  assert.deepEqual([capacity, bars[0].over, bars[0].segments.length], [10, 3, 2]);
});

test("free memory and its largest piece are drawn below what was asked for", () => {
  const told = { requested_bytes: 12, free_bytes: 13, reservable_bytes: 9 };
  const { bars, scale } = barsOf(messageOf("program_load", told));
  assert.deepEqual(
    bars.map((bar) => bar.label),
    ["wanted", "free", "in one piece"],
  );
  assert.equal(scale, 13);
});

test("without figures there is nothing to draw", () => {
  assert.deepEqual(barsOf(messageOf("compile_oom", {})).bars, []);
});

test("a repeated message says how often, one of a kind only where", () => {
  assert.deepEqual(marksOf({ count: 8, line: 41 }), ["8 times in the log", "first at line 41"]);
  assert.deepEqual(marksOf({ count: 1, line: 4 }), ["line 4"]);
});

test("a count among the figures is no size, and an absent figure no row", () => {
  const rows = breakdownRows({ breakdown: { InUse: 5, NumAllocs: 7, Limit: null } });
  assert.deepEqual(
    rows.map((row) => [row.name, row.isCount]),
    [
      ["InUse", false],
      ["NumAllocs", true],
    ],
  );
});

test("fixes with the most bytes come first, those without keep the server's order", () => {
  const fixes = [
    { id: "a", text: "A", how: "x", changes_numerics: false, saves_bytes: null },
    { id: "d", text: "D", how: null, changes_numerics: false, saves_bytes: null },
    { id: "b", text: "B", how: null, changes_numerics: true, saves_bytes: 5 },
    { id: "c", text: "C", how: null, changes_numerics: true, saves_bytes: 9 },
  ];
  const ranked = rankedFixes({ fixes });
  assert.deepEqual(
    ranked.map((fix) => fix.text),
    ["C", "B", "A", "D"],
  );
});

test("a text that the server takes is sent whole, of a larger one the end", () => {
  const small = sourceOfText("RESOURCE_EXHAUSTED");
  assert.deepEqual([small.body, small.bytes, isCut(small)], ["RESOURCE_EXHAUSTED", 18, false]);
  const large = sourceOfBlob(new Blob([new Uint8Array(MAX_BYTES + 5)]), "train.log");
  assert.equal(large.sentBytes, MAX_BYTES);
  assert.ok(isCut(large));
  assert.equal(large.body.size, MAX_BYTES);
});

test("the bytes of a text are counted, not its letters; a long one stays out of the field", () => {
  assert.equal(sourceOfText("ä").bytes, 2);
  assert.equal(sourceOfText("x".repeat(SHOWN_MAX + 1)).text, null);
  assert.equal(sourceOfText("x").text, "x");
});

test("eight wordings are told, and the example is one of them", () => {
  assert.equal(WORDINGS.length, 8);
  assert.ok(SAMPLE.includes(WORDINGS[1].words.split(" …")[0]));
});

const LINK = "?run=S&tag=memory_viewer&host=h&module_name=jit_f%281%29&memory_space=0";
const JOINED = { session: "S", host: "h", module: "jit_f(1)", link: LINK };

test("a link opens the joined program with the capacity that the message tells", () => {
  const message = { joined: JOINED, memory_space: "hbm", capacity_bytes: 15.75 * GIB };
  const params = { run: "S", tag: "memory_viewer", host: "h", module_name: "jit_f(1)", memory_space: "0" };
  assert.deepEqual(moduleParams(message, null), { ...params, capacity: "15.75GiB" });
  assert.equal(moduleParams(message, "32GiB").capacity, "32GiB");
  assert.equal(moduleParams({ ...message, capacity_bytes: 12345 }, null).capacity, "12345");
  assert.equal(moduleParams({ ...message, memory_space: "vmem" }, null).capacity, null);
});

test("a buffer has a link where the server gives one, and only then", () => {
  const message = { joined: JOINED, memory_space: "hbm", capacity_bytes: null };
  assert.equal(bufferParams(message, { link: `${LINK}&buffer=3` }, null).buffer, "3");
  assert.equal(bufferParams(message, { link: null }, null), null);
  assert.equal(bufferParams({ joined: null }, { link: `${LINK}&buffer=3` }, null), null);
});
