// @ts-check
/**
 * A memory view as the charts need it: the reply's columns in typed arrays, and when each row is alive.
 *
 *     event           0 ALLOC a   1 ALLOC b   2 FREE b    3 FREE a
 *     heap_bytes  0           a          a+b           a           0    of the reply: before each event
 *     heap            a          a+b           a           0            here: of a step, after its event
 *     alive a        [0 ................................. 3)             half-open: start_step to end_step
 *
 * So the step that allocates the last bytes of the peak is the peak's step, and names its instruction. A row that lives
 * for the whole program is alive at every step.
 * @typedef {ReturnType<typeof buildModel>} Model
 */
import { TEMPORARY } from "./categories.js";

export function buildModel(view) {
  const columns = view.buffers;
  const steps = view.program.steps;
  const count = columns.size_bytes.length;
  const category = Uint8Array.from(columns.category);
  return {
    view,
    steps,
    count,
    category,
    lastStep: Math.max(0, steps - 1),
    strings: view.strings,
    totals: view.totals,
    heap: afterEachEvent(view.program.heap_bytes),
    unpaddedHeap: afterEachEvent(view.program.unpadded_bytes),
    instructionAt: Uint32Array.from(view.program.instruction),
    id: Float64Array.from(columns.logical_buffer_id),
    allocation: Float64Array.from(columns.allocation),
    offset: Float64Array.from(columns.offset),
    size: Float64Array.from(columns.size_bytes),
    unpadded: Float64Array.from(columns.unpadded_bytes),
    startStep: Uint32Array.from(columns.start_step),
    endStep: Uint32Array.from(columns.end_step),
    aliveBegin: aliveBegins(columns.start_step, category),
    aliveEnd: aliveEnds(columns.end_step, category, steps),
    instruction: Uint32Array.from(columns.instruction),
    opcode: Uint32Array.from(columns.opcode),
    shape: Uint32Array.from(columns.shape),
    opName: Uint32Array.from(columns.op_name),
    source: Uint32Array.from(columns.source),
    atPeak: Uint32Array.from(view.at_peak),
    peakStep: view.totals.peak_position,
    allocations: view.allocations,
  };
}

function afterEachEvent(beforeEachEvent) {
  return Float64Array.from(beforeEachEvent).subarray(1);
}

function aliveBegins(startSteps, category) {
  return Float64Array.from(startSteps, (start, row) => (category[row] === TEMPORARY ? start : 0));
}

function aliveEnds(endSteps, category, steps) {
  return Float64Array.from(endSteps, (end, row) => (category[row] === TEMPORARY ? end : Math.max(1, steps)));
}

export function paddingOf(model, row) {
  const unpadded = model.unpadded[row];
  return unpadded < 0 ? 0 : Math.max(0, model.size[row] - unpadded);
}

export function nameOf(model, row) {
  return model.strings[model.instruction[row]] || `buffer ${model.id[row]}`;
}

/** The instruction whose event a step is. */
export function instructionOf(model, step) {
  return model.strings[model.instructionAt[step] ?? 0] ?? "";
}

export function rowOfBuffer(model, logicalBufferId) {
  const row = model.id.indexOf(logicalBufferId);
  return row < 0 ? null : row;
}
