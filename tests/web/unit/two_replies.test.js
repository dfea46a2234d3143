import { test } from "node:test";
import assert from "node:assert/strict";
import { buildFirstModel } from "../../../web/js/tools/memory_viewer/data/first_model.js";
import { buildModel, instructionOf, nameOf, paddingOf } from "../../../web/js/tools/memory_viewer/data/model.js";
import { largestFirst } from "../../../web/js/tools/memory_viewer/data/size_order.js";
import { largestRow } from "../../../web/js/tools/memory_viewer/data/live.js";
import { layoutBar, orderRows } from "../../../web/js/tools/memory_viewer/layout/bars.js";
import { sampleCurve } from "../../../web/js/tools/memory_viewer/layout/curve_samples.js";
import { sampleView } from "./sample_view.js";

const differences = (values) => values.map((value, i) => value - (values[i - 1] ?? 0));

/** The overview of sampleView, with the two largest rows at the peak listed. */
function sampleOverview() {
  const { program, buffers, at_peak: atPeak, ...head } = sampleView();
  const rows = [...atPeak].sort((a, b) => buffers.size_bytes[b] - buffers.size_bytes[a] || a - b);
  const listed = rows.slice(0, 2);
  const others = rows.slice(2);
  const sum = (of, column) => of.reduce((total, row) => total + column[row], 0);
  const bytesAtPeak = (category) => sum(rows.filter((row) => buffers.category[row] === category), buffers.size_bytes);
  return {
    ...head,
    program: { steps: program.steps, step: program.heap_bytes.map((_, i) => i), ...program },
    categories: [0, 1, 2, 3, 4].map((category) => ({ bytes_at_peak: bytesAtPeak(category) })),
    rows: buffers.size_bytes.length,
    at_peak: { buffers: rows.length },
    largest_at_peak: {
      row: listed,
      ...Object.fromEntries(Object.entries(buffers).map(([key, column]) => [key, listed.map((row) => column[row])])),
    },
    left_out: {
      buffers: others.length,
      size_bytes: sum(others, buffers.size_bytes),
      padding_bytes: sum(others, buffers.size_bytes) - sum(others, buffers.unpadded_bytes),
    },
  };
}

test("columns that come as differences make the same model", () => {
  const view = sampleView();
  const { program, buffers } = view;
  view.delta = { program: ["heap_bytes", "unpadded_bytes"], buffers: ["start_step", "offset"] };
  for (const key of view.delta.program) program[key] = differences(program[key]);
  for (const key of view.delta.buffers) buffers[key] = differences(buffers[key]);
  assert.deepEqual(buildModel(view), buildModel(sampleView()));
});

test("the first reply draws the curve and the peak as the whole one does", () => {
  const [first, whole] = [buildFirstModel(sampleOverview()), buildModel(sampleView())];
  const everyStep = { begin: 0, end: whole.steps };
  assert.deepEqual(first.samples, sampleCurve(whole.heap, whole.unpaddedHeap, everyStep, 100));
  assert.equal(first.heap[first.peakStep], whole.heap[whole.peakStep]);
  assert.equal(first.unpaddedHeap[first.peakStep], whole.unpaddedHeap[whole.peakStep]);
  assert.equal(instructionOf(first, first.peakStep), "t2");
  assert.deepEqual([first.isWhole, first.wholeCount], [false, whole.count]);
});

test("a curve that is reduced begins where the program does", () => {
  const overview = sampleOverview();
  const { program } = overview;
  const kept = [0, 2, 6];
  for (const key of ["step", "heap_bytes", "unpadded_bytes"]) program[key] = kept.map((at) => program[key][at]);
  assert.deepEqual(buildFirstModel(overview).samples.map((values) => [...values]), [
    [0, 1, 5, 6],
    [90, 180, 90, 90],
    [100, 200, 100, 100],
  ]);
});

test("its bars are to scale: the largest, and one for the others", () => {
  const [first, whole] = [buildFirstModel(sampleOverview()), buildModel(sampleView())];
  const names = [...first.atPeak].map((row) => nameOf(first, row));
  assert.equal(names.length, 3);
  assert.equal(names.at(-1), `${whole.atPeak.length - 2} more`);
  assert.equal(first.othersRow, 2);
  assert.equal(first.count + first.uncounted, whole.atPeak.length);
  const largest = whole.bySize.find((row) => whole.atPeak.includes(row));
  const width = (model, row, order) => {
    const bar = layoutBar(model, orderRows(model, model.atPeak, order), 1000);
    const at = bar.rows.indexOf(row);
    return bar.edges[at + 1] - bar.edges[at];
  };
  const same = [...first.atPeak].find((row) => nameOf(first, row) === nameOf(whole, largest));
  for (const order of ["program", "size", "padding"])
    assert.equal(width(first, same, order), width(whole, largest, order), order);
  for (const order of ["program", "size", "padding"])
    assert.equal(orderRows(first, first.atPeak, order).at(-1), first.othersRow, order);
  assert.notEqual(largestRow(first, first.atPeak), first.othersRow);
  const padding = (model) => [...model.atPeak].reduce((sum, row) => sum + paddingOf(model, row), 0);
  assert.equal(padding(first), padding(whole));
});

test("nothing stands for others where there are none", () => {
  const overview = sampleOverview();
  overview.at_peak.buffers = 2;
  overview.left_out = { buffers: 0, size_bytes: 0, padding_bytes: 0 };
  assert.equal(buildFirstModel(overview).othersRow, null);
  assert.deepEqual([buildFirstModel(overview).count, buildFirstModel(overview).uncounted], [2, 0]);
});

test("rows by size, those of one size as they come", () => {
  assert.deepEqual([...largestFirst(Float64Array.of(3, 9, 0, 3, 9, 2 ** 40))], [5, 1, 4, 0, 3, 2]);
  assert.deepEqual([...largestFirst(new Float64Array(0))], []);
});
