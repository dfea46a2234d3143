// @ts-check
/**
 * What a group's bar and share are of: its bytes, those of them that are padding, or bytes times the steps that they
 * stay, which tells a large buffer that comes and goes from one that is held throughout. Pure.
 */
import { matcher } from "../../../base/text_match.js";

export const WEIGHTS = [
  { weight: "size", label: "size", title: "shares are of the bytes" },
  { weight: "padding", label: "padding", title: "shares are of the padding" },
  { weight: "lifetime", label: "size × lifetime", title: "shares are of the bytes times the steps that they live" },
];
export const USUAL_WEIGHT = WEIGHTS[0].weight;

/** @typedef {import("./groups.js").Group} WeighedGroup `share` is of the weight */

/** @param {import("./groups.js").Group[]} groups @param {string} weight @returns {WeighedGroup[]} */
export function weighGroups(groups, weight) {
  const shareOf = sharesOf(groups, weight);
  return groups.map((group) => ({ ...group, share: shareOf(group) }));
}

/**
 * Tells what a group, or some buffers of one, are of all groups.
 * @param {import("./groups.js").Group[]} groups
 * @returns {(part: {bytes: number, padding: number, byteSteps: number}) => number}
 */
export function sharesOf(groups, weight) {
  const whole = groups.reduce((sum, one) => sum + weightOf(one, weight), 0);
  return (part) => (whole > 0 ? weightOf(part, weight) / whole : 0);
}

function weightOf({ bytes, padding, byteSteps }, weight) {
  return weight === "padding" ? padding : weight === "lifetime" ? byteSteps : bytes;
}

/** Those that a search finds, by their key or by what they are about. @param {WeighedGroup[]} groups */
export function groupsFound(groups, query) {
  const test = matcher(query);
  return test ? groups.filter(({ key, about }) => test(key) || test(about)) : groups;
}

/** "+mylib,other/part": names of libraries with commas between, the default list before them with a plus. */
export function areFrameworks(text) {
  return /^\+?[\w./-]+(,[\w./-]+)*$/.test(text.replaceAll(" ", ""));
}
