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
 *
 * The model of the first reply (first_model.js) is not whole: `othersRow` stands for the rows that it does not list,
 * `uncounted` is how many more than one they are, `samples` is its curve, `placeInView` its rows' numbers then.
 * @typedef {ReturnType<typeof buildModel>} Model
 */
import { TEMPORARY } from "./categories.js";
import { largestFirst } from "./size_order.js";

export function buildModel(view) {
  const steps = view.program.steps;
  const count = view.buffers.size_bytes.length;
  const category = new Uint8Array(view.buffers.category);
  const size = buffers(view, "size_bytes", Float64Array);
  const startStep = buffers(view, "start_step", Uint32Array);
  const endStep = buffers(view, "end_step", Uint32Array);
  return {
    isWhole: true,
    steps,
    count,
    wholeCount: count,
    othersRow: /** @type {number | null} */ (null),
    uncounted: 0,
    samples: /** @type {Float64Array[] | null} */ (null),
    placeInView: /** @type {number[] | null} */ (null),
    category,
    lastStep: Math.max(0, steps - 1),
    strings: view.strings,
    totals: view.totals,
    heap: program(view, "heap_bytes", Float64Array).subarray(1),
    unpaddedHeap: program(view, "unpadded_bytes", Float64Array).subarray(1),
    instructionAt: program(view, "instruction", Uint32Array),
    id: buffers(view, "logical_buffer_id", Float64Array),
    allocation: buffers(view, "allocation", Float64Array),
    offset: buffers(view, "offset", Float64Array),
    size,
    unpadded: buffers(view, "unpadded_bytes", Float64Array),
    startStep,
    endStep,
    aliveBegin: lifetimes(startStep, category, 0),
    aliveEnd: lifetimes(endStep, category, Math.max(1, steps)),
    instruction: buffers(view, "instruction", Uint32Array),
    opcode: buffers(view, "opcode", Uint32Array),
    shape: buffers(view, "shape", Uint32Array),
    opName: buffers(view, "op_name", Uint32Array),
    source: buffers(view, "source", Uint32Array),
    bySize: largestFirst(size),
    atPeak: new Uint32Array(view.at_peak),
    peakStep: view.totals.peak_position,
    allocations: view.allocations,
  };
}

const program = (view, key, type) => column(type, view.program[key], view.delta?.program.includes(key));
const buffers = (view, key, type) => column(type, view.buffers[key], view.delta?.buffers.includes(key));

function column(type, values, isDifferences) {
  if (!isDifferences) return new type(values);
  const out = new type(values.length);
  for (let i = 0, sum = 0; i < out.length; i += 1) {
    sum += values[i];
    out[i] = sum;
  }
  return out;
}

/** One end of each lifetime: its step for temporary rows, the program's own for the others. */
function lifetimes(steps, category, ofProgram) {
  const out = new Float64Array(steps.length);
  for (let row = 0; row < out.length; row += 1) out[row] = category[row] === TEMPORARY ? steps[row] : ofProgram;
  return out;
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
