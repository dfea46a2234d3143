// @ts-check
/**
 * The model of the first reply, which paints before the columns of all buffers are here. The same fields as in
 * model.js, but it knows less:
 *
 *     rows       the largest at the peak in program order, then, where there are more, one that stands for the others
 *     samples    the points of the curve; `heap` and `unpaddedHeap` have the peak's step only
 *
 * Pure.
 */
import { groupDigits } from "../../../base/format.js";
import { buildModel } from "./model.js";

/** @returns {import("./model.js").Model} */
export function buildFirstModel(overview) {
  const { totals } = overview;
  const strings = [...overview.strings, totals.peak_instruction];
  const buffers = inProgramOrder(overview.largest_at_peak);
  const listed = buffers.row.length;
  if (overview.left_out.buffers > 0) addOthers(buffers, strings, overview);
  const view = {
    ...overview,
    strings,
    buffers,
    at_peak: buffers.row.map((_, i) => i),
    allocations: { index: [], size_bytes: [] },
    program: { steps: overview.program.steps, heap_bytes: [], unpadded_bytes: [], instruction: [] },
  };
  const atPeak = (value) => /** @type {any} */ ({ [totals.peak_position]: value });
  return {
    ...buildModel(view),
    isWhole: false,
    wholeCount: overview.rows,
    othersRow: listed < buffers.row.length ? listed : null,
    uncounted: overview.at_peak.buffers - buffers.row.length,
    placeInView: buffers.row,
    samples: samplesOf(overview.program),
    heap: atPeak(totals.peak_bytes),
    unpaddedHeap: atPeak(totals.peak_unpadded_bytes),
    instructionAt: atPeak(overview.strings.length),
  };
}

function inProgramOrder(columns) {
  const order = columns.row.map((_, i) => i).sort((a, b) => columns.row[a] - columns.row[b]);
  return Object.fromEntries(Object.entries(columns).map(([key, column]) => [key, order.map((i) => column[i])]));
}

/** Of the kind that most of their bytes are. */
function addOthers(buffers, strings, { left_out: others, categories, program }) {
  const bytes = categories.map((one) => one.bytes_at_peak);
  buffers.category.forEach((category, i) => (bytes[category] -= buffers.size_bytes[i]));
  const row = {
    row: Infinity,
    logical_buffer_id: -1,
    size_bytes: others.size_bytes,
    unpadded_bytes: others.size_bytes - others.padding_bytes,
    end_step: program.steps,
    category: bytes.indexOf(Math.max(...bytes)),
    instruction: strings.length,
  };
  strings.push(`${groupDigits(others.buffers)} more`);
  for (const key of Object.keys(buffers)) buffers[key].push(row[key] ?? 0);
}

/** Before each event, as the reply has it, is after the one before; what stands before the first has no such place. */
function samplesOf({ steps, step, heap_bytes: heap, unpadded_bytes: unpadded }) {
  const first = step[0] === 0 && step[1] === 1 ? 1 : 0;
  const held = (values) => Float64Array.from([...values.slice(first), values.at(-1) ?? 0]);
  const places = step.slice(first).map((one) => Math.max(0, one - 1));
  return [Float64Array.from([...places, steps]), held(unpadded), held(heap)];
}
