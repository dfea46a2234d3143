// @ts-check
// What is open of a tree, as one word of the address: keys, a line each.

const OPENED_MOST = 2000; // characters of an address: those opened after are not in it

/** null for none. @param {readonly string[]} keys */
export function openedText(keys) {
  let length = 0;
  const kept = keys.filter((key) => (length += key.length + 1) <= OPENED_MOST);
  return kept.length ? kept.join("\n") : null;
}

/** @returns {readonly string[]} */
export const parseOpened = (word) => (word ? word.split("\n") : []);
