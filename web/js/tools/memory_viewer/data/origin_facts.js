// @ts-check
/**
 * Where a buffer comes from, in words: the place in the reader's source, who says so where its own operation does not,
 * the argument that it is or is copied from, and the phase of the training step with the rule that tells. From the
 * server's details of a buffer. Pure.
 */

/** Why a buffer is said to be of its phase; {} stands for the operation that tells. */
const RULES = {
  category: "its allocation holds an input or an output of the program",
  argument: "computed from the argument {} alone",
  op_name: "the op name of {} says so",
  read_backward: "made in the forward pass, read in the backward pass",
  computed_again: "XLA computes it once more in the backward pass: {}",
  from_gradients: "neither forward nor backward, and computed from gradients: {}",
  for_its_reader: "no name tells; who reads it does",
  no_backward_pass: "nothing is trained here: there is no backward pass",
};

/** "train.py:53:12 attention" -> "train.py:53": a frame without its column and function. */
export function placeOfFrame(frame) {
  return /^(.*?:\d+)(?::\d+)?(?: .*)?$/.exec(frame)?.[1] ?? frame;
}

/** The line of the reader's own program: the frame that is none of a framework's, else what the operation names. */
export function sourceOf(details, otherwise) {
  const frame = details?.stack?.[details.reader_frame ?? -1];
  return frame ? placeOfFrame(frame) : details?.source || otherwise;
}

/** "from its operand add_any.4, 4 steps away"; "" where the buffer's own operation tells. */
export function fromWords(from) {
  if (!from) return "";
  const away = from.links > 1 ? `, ${from.links} steps away` : "";
  return `from its ${from.way} ${from.instruction}${away}`;
}

/** @returns {{name: string, reason: string} | null} */
export function phaseOf(details) {
  const phase = details?.phase;
  if (!phase) return null;
  const reason = (RULES[phase.rule] ?? "nothing in the program tells").replace("{}", () => phase.evidence);
  return { name: phase.name, reason };
}
