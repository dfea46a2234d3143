import { test } from "node:test";
import assert from "node:assert/strict";
import {
  buildModel,
  instructionOf,
  nameOf,
  paddingOf,
  rowOfBuffer,
} from "../../../web/js/tools/memory_viewer/data/model.js";
import { largestRow, liveRows, sumOf } from "../../../web/js/tools/memory_viewer/data/live.js";
import { matcher } from "../../../web/js/base/text_match.js";
import { matchRows, rankedMatches, countFlags } from "../../../web/js/tools/memory_viewer/data/search.js";
import { compositionOf, fitOf, mainParts } from "../../../web/js/tools/memory_viewer/data/composition.js";
import { notesByWeight } from "../../../web/js/tools/memory_viewer/data/notes.js";
import { overviewLines } from "../../../web/js/tools/memory_viewer/data/overview.js";
import { factsOf } from "../../../web/js/tools/memory_viewer/data/card_facts.js";
import {
  findModule,
  mergeModules,
  moduleAddress,
  namedHosts,
  peakOf,
  sortModules,
  spacesWithData,
} from "../../../web/js/tools/memory_viewer/data/modules.js";
import { sampleView } from "./sample_view.js";

const model = buildModel(sampleView());

/** What a generator returns when nobody stops it. */
function resultOf(work) {
  for (;;) {
    const { done, value } = work.next();
    if (done) return value;
  }
}

test("the live set adds up to the curve at every step", () => {
  for (let step = 0; step < model.steps; step += 1) {
    assert.equal(sumOf(model.size, liveRows(model, step)), model.heap[step], `step ${step}`);
    assert.equal(model.heap[step], sampleView().program.heap_bytes[step + 1]);
  }
});

test("a view without a simulation holds the same all the time", () => {
  const view = sampleView();
  view.program = { steps: 0, heap_bytes: [], unpadded_bytes: [], instruction: [] };
  view.totals.peak_position = 0;
  view.at_peak = [0, 1, 2];
  const still = buildModel(view);
  assert.deepEqual([...liveRows(still, 0)], [0, 1, 2]);
  assert.equal(instructionOf(still, 0), "");
});

test("rows by name, id and size", () => {
  assert.equal(nameOf(model, 4), "t2");
  assert.equal(rowOfBuffer(model, 21), 4);
  assert.equal(rowOfBuffer(model, 99), null);
  assert.equal(paddingOf(model, 1), 10);
  assert.equal(paddingOf(model, 5), 0, "unknown shape");
  assert.equal(largestRow(model, liveRows(model, 2)), 0);
  assert.equal(largestRow(model, []), null);
});

test("search finds plain text, brackets and all, and regular expressions", () => {
  assert.equal(matcher("  "), null);
  assert.ok(matcher("a.d")("jit/ADD"));
  assert.ok(matcher("f32[10]{")("f32[10]{0}"));
  const flags = resultOf(matchRows(model, "jit\\(f\\)|out"));
  assert.deepEqual([...flags], [0, 0, 1, 1, 1, 0]);
  assert.equal(countFlags(flags), 3);
  assert.deepEqual([...rankedMatches(model, flags)], [4, 3, 2]);
  assert.equal(resultOf(matchRows(model, "")), null);
});

test("the stacked bar is the total and the thread-local part", () => {
  const bytes = Object.fromEntries(compositionOf(sampleView()).map((one) => [one.key, one.bytes]));
  assert.deepEqual(bytes, {
    parameter: 60,
    donated: 30,
    output: 10,
    constant: 0,
    temporary: 100,
    fragmentation: 10,
    "thread-local": 5,
  });
});

test("temporaries without a simulation are not called fragmentation", () => {
  const view = sampleView();
  Object.assign(view.totals, { peak_bytes: 100 });
  view.program.steps = 0;
  const bytes = Object.fromEntries(compositionOf(view).map((one) => [one.key, one.bytes]));
  assert.deepEqual([bytes.temporary, bytes.fragmentation], [110, 0]);
});

test("overflow is the peak against the capacity; the total is told apart", () => {
  const { totals } = model;
  assert.deepEqual(fitOf(totals, null), { state: "unknown", byBytes: 0 });
  assert.deepEqual(fitOf(totals, 199), { state: "overflow", byBytes: 1 });
  assert.deepEqual(fitOf(totals, 205), { state: "fragmented", byBytes: 5 });
  assert.deepEqual(fitOf(totals, 210), { state: "fits", byBytes: 0 });
  const shared = { ...totals, peak_bytes: 300 };
  assert.deepEqual(fitOf(shared, 250), { state: "fits", byBytes: 40 }, "what shares addresses needs only the total");
  assert.deepEqual(fitOf(shared, 200), { state: "overflow", byBytes: 10 });
});

test("the overview follows XProf's formulas and shows its figure where it differs", () => {
  const lines = Object.fromEntries(overviewLines(sampleView()).map((line) => [line.id, line]));
  assert.equal(lines.peak.bytes, 200);
  assert.equal(lines["with-fragmentation"].bytes, 210);
  assert.equal(lines.arguments.bytes, 90);
  assert.equal(lines.temporaries.bytes, 100);
  assert.equal(lines.lifetime.bytes, 110);
  assert.equal(lines.lifetime.tail, "(fragmentation 9.09%)");
  assert.deepEqual([lines.padding.bytes, lines.padding.xprofBytes], [20, 5]);
  assert.equal(lines.peak.xprofBytes, undefined);
});

test("VMEM adds the largest scoped allocation, as XProf does", () => {
  const view = sampleView();
  Object.assign(view.totals, { scoped_vmem_bytes: 7, scoped_vmem_instruction: "fusion.1" });
  const lines = Object.fromEntries(overviewLines(view).map((line) => [line.id, line]));
  assert.equal(lines.peak.bytes, 107);
  assert.equal(lines["with-fragmentation"].bytes, 117);
  assert.equal(lines.scoped.tail, "(fusion.1)");
});

test("without XProf's figures there is nothing to compare with", () => {
  const view = sampleView();
  view.xprof = null;
  assert.ok(overviewLines(view).every((line) => line.xprofBytes === undefined));
});

test("a dump's own count stands below, with what it differs by", () => {
  const view = sampleView();
  const compiler = () => overviewLines(view).find((line) => line.id === "compiler");
  assert.equal(compiler(), undefined);
  view.compiler_report = { total_bytes: 210, agrees: true, difference_bytes: 0 };
  assert.deepEqual([compiler().bytes, compiler().tail], [210, "(agrees)"]);
  view.compiler_report = { total_bytes: 12555, agrees: false, difference_bytes: -12345 };
  assert.match(compiler().tail, /^\(differs by 12.345 bytes\)$/);
});

test("the card as text holds what the server added", () => {
  const details = {
    dimensions: [{ dimension: 0, size: 9, padded: 16, tile: 8 }],
    stack: ["a.py:1:2 f"],
    source: "a.py:1",
    allocation: { parameter_number: 2 },
    shares_with: [],
  };
  const { text } = factsOf(model, 1, details);
  assert.match(text, /Size: 30 B/);
  assert.match(text, /Dimension 0: 9 padded to 16 \(tile 8\)/);
  assert.match(text, /#1 \(parameter 2\)/);
  assert.match(text, /Source Stack:\n {2}a\.py:1:2 f/);
  assert.match(factsOf(model, 4, null).text, /step 1 to 4/);
});

test("the card names the reader's line, who says so, and the phase with its rule", () => {
  const details = {
    stack: ["flax/linear.py:287:3 dot", "model.py:53:12 attention"],
    reader_frame: 1,
    source: "flax/linear.py:287",
    source_from: { way: "operand", instruction: "add.4", links: 4 },
    argument: "params['w']",
    phase: { name: "saved for backward", rule: "read_backward", evidence: "copy.2" },
  };
  const { source, origin, text } = factsOf(model, 1, details);
  assert.deepEqual(source, { place: "model.py:53", from: "from its operand add.4, 4 steps away" });
  assert.match(text, /^Source: model\.py:53 \(from its operand add\.4, 4 steps away\)$/m);
  const phase = origin.find((fact) => fact.label === "Phase");
  assert.deepEqual(
    [phase.text, phase.about],
    ["saved for backward", "made in the forward pass, read in the backward pass"],
  );
  assert.equal(origin.find((fact) => fact.label === "Argument").text, "params['w']");
  const unknown = { ...details, stack: [], reader_frame: null, source: "", source_from: null };
  assert.equal(factsOf(model, 1, unknown).source.from, "");
});

test("modules: largest first, unknown last, XProf's short name found", () => {
  const ready = (name, peak) => ({
    name,
    module_name: name.split("(")[0],
    state: "ready",
    memory_spaces: [
      { space: 1, peak_bytes: 9e9 },
      { space: 0, peak_bytes: peak },
    ],
  });
  const list = [
    ready("a(1)", 5),
    { name: "p(2)", module_name: "p", state: "pending", memory_spaces: [] },
    ready("b(3)", 7),
    ready("aa(4)", 5),
  ];
  assert.deepEqual(
    sortModules(list).map((one) => one.name),
    ["b(3)", "a(1)", "aa(4)", "p(2)"],
  );
  assert.equal(peakOf(list[1]), null);
  assert.equal(findModule(list, "b").name, "b(3)");
  assert.equal(findModule(list, "zz"), null);
  assert.deepEqual(
    spacesWithData([
      { peak_bytes: 0, total_allocation_bytes: 0 },
      { peak_bytes: 0, total_allocation_bytes: 4 },
    ]).length,
    1,
  );
});

test("modules: what changed since a version goes into what was told before", () => {
  const row = (name, host, state) => ({ name, host, state });
  const before = {
    version: "k-0",
    complete: false,
    hosts: [{ name: "a" }, { name: "b" }],
    modules: [row("f", "a", "pending"), row("f", "b", "pending"), row("g", "a", "pending")],
  };
  const told = { since: "k-0", version: "k-1", complete: true, modules: [row("f", "b", "ready")] };
  const merged = mergeModules(before, told);
  assert.deepEqual(
    merged.modules.map((one) => one.state),
    ["pending", "ready", "pending"],
  );
  assert.equal(merged.version, "k-1");
  assert.ok(merged.complete);
  assert.deepEqual(merged.hosts, before.hosts);
  assert.equal(mergeModules(null, before), before);
  const anew = { version: "l-0", complete: false, hosts: [], modules: [] };
  assert.equal(mergeModules(before, anew), anew); // other files: all of it is new
});

test("modules: programs of one name are told apart by host or file, and only then", () => {
  const row = (name, host) => ({ name, module_name: name, host, hosts: [host] });
  const files = {
    hosts: ["a.hlo.pb", "b.hlo.pb", "c.hlo.pb"].map((file) => ({ name: file, file })),
    modules: [row("f", "a.hlo.pb"), row("f", "b.hlo.pb"), row("g", "c.hlo.pb")],
  };
  assert.deepEqual(namedHosts(files), []);
  assert.equal(findModule(files.modules, "f", "b.hlo.pb"), files.modules[1]);
  assert.equal(findModule(files.modules, "f", null), files.modules[0]);
  assert.equal(findModule(files.modules, "g", "b.hlo.pb"), files.modules[2]);
  assert.deepEqual(moduleAddress(files, files.modules[1]), { module_name: "f", host: "b.hlo.pb" });
  assert.deepEqual(moduleAddress(files, files.modules[2]), { module_name: "g", host: null });
  const hosts = { hosts: [{ name: "vm", file: "vm.xplane.pb" }], modules: [row("f", "vm")] };
  assert.equal(namedHosts(hosts).length, 1);
  assert.deepEqual(moduleAddress(hosts, hosts.modules[0]), { module_name: "f" }); // a chosen host stays
  const dump = { hosts: [{ name: "", file: "module_1.f.hlo.pb" }], modules: [] };
  assert.deepEqual(namedHosts(dump), []);
});

test("parts too small for the line are said as one, and none is lost", () => {
  const segments = [500, 1, 499, 0.5].map((bytes, i) => ({ key: String(i), label: "", title: "", bytes }));
  const { main, small } = mainParts(segments, 1000.5);
  assert.deepEqual(
    main.map((one) => one.key),
    ["0", "2"],
  );
  assert.deepEqual(
    small.map((one) => one.key),
    ["1", "3"],
  );
});

test("a note on less than a thousandth of the memory is among the facts, one without bytes is read first", () => {
  const notes = ["about 1.00 MiB (1048576 bytes) of it", "about 1 B (1 bytes), of 9 (9 bytes)", "the trace is cut"];
  assert.deepEqual(notesByWeight(notes, 1048576 * 1000), { main: [notes[0], notes[2]], small: [notes[1]] });
  assert.deepEqual(notesByWeight(notes, 0).small, []);
});
