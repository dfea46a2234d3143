// @ts-check
/**
 * Who holds the memory at a step: the groups of a reply, with the rows of the view that belong to each. Pure.
 *
 *     rows.first_member  [0, 3, 5]        members  [7, 1, 4,  0, 9,  2]
 *                                                   group 0   1     2
 * @typedef {{key: string, bytes: number, padding: number, byteSteps: number, buffers: number, share: number,
 *            members: number[], about: string, title: string}} Group `title` says in whole what the key says in short,
 *     `byteSteps` are bytes times the steps that they live
 * @typedef {{by: string, rule: string | null, lineShare: number | null, step: number, bytes: number,
 *            unknownBytes: number, rows: Group[]}} Groups
 */

import { isWithin } from "./group_paths.js";

/** The ways to group: the word of the address and of the API, and what a reader calls it. The first is usual. */
export const WAYS = [
  { by: "source", label: "line", title: "your line; parameters: the root of their argument path" },
  { by: "stack", label: "stack", title: "every frame, the outermost first" },
  { by: "scope", label: "scope", title: "the named scopes and transforms of the op name" },
  { by: "argument", label: "argument", title: "the path of the argument that it is or is copied from" },
  { by: "phase", label: "phase", title: "forward, saved for backward, backward, optimizer, inputs, outputs" },
  { by: "category", label: "category", title: "parameter, donated, output, constant, temporary" },
  { by: "dtype", label: "dtype", title: "the element type" },
  { by: "shape", label: "shape", title: "the shape without its layout" },
  { by: "opcode", label: "opcode", title: "the kind of operation that writes it" },
];

export const USUAL_WAY = WAYS[0].by;

/** How a buffer's phase is known: the words of the API as sentences. */
const PHASE_RULES = {
  "": "",
  category: "by its allocation",
  argument: "copied from an argument",
  op_name: "by its op name",
  read_backward: "made forward, read backward",
  computed_again: "computed again for the backward pass",
  from_gradients: "computed from gradients",
  for_its_reader: "by what reads it first",
  no_backward_pass: "nothing is trained",
};

function titleOf({ by, rule, rows }, i) {
  const key = rows.key[i];
  if (rows.phase_evidence?.[i]) return `${key}: ${PHASE_RULES[rows.phase_rule[i]]}, such as ${rows.phase_evidence[i]}`;
  const place = rows.place[i];
  if (by === USUAL_WAY && rule === "lines" && place) return place;
  return place ? `${key}, at ${place}` : key;
}

/** @returns {Groups} */
export function groupsOf(reply) {
  const { rows, members } = reply;
  return {
    by: reply.by,
    rule: reply.rule,
    lineShare: reply.line_share ?? null,
    step: reply.step,
    bytes: reply.live_bytes,
    unknownBytes: reply.unknown_bytes,
    rows: rows.key.map((key, i) => ({
      key,
      bytes: rows.size_bytes[i],
      padding: rows.padding_bytes[i],
      byteSteps: rows.size_x_lifetime[i],
      buffers: rows.buffers[i],
      share: rows.share[i],
      members: members.slice(rows.first_member[i], rows.first_member[i] + rows.buffers[i]),
      about: rows.phase_rule ? PHASE_RULES[rows.phase_rule[i]] : rows.about[i],
      title: titleOf(reply, i),
    })),
  };
}

/**
 * The rows of a group, or of all that go on from a path; null where no group, or the path of all, is meant.
 * @param {Groups | null} groups
 */
export function membersOf(groups, key) {
  if (!key) return null;
  return (groups?.rows ?? []).filter((group) => isWithin(groups?.by, group.key, key)).flatMap(({ members }) => members);
}

/** The sentence beside the title: the rule, and what nobody knows. @param {Groups} groups */
export function rulesOf({ by, rule, lineShare, bytes, unknownBytes }, shareText) {
  const parts = [];
  if (by === USUAL_WAY && rule === "names") parts.push(`by op name: one line holds ${shareText(lineShare)}`);
  if (unknownBytes > 0) parts.push(`${shareText(unknownBytes / bytes)} of the bytes unknown`);
  return parts.join("; ");
}
