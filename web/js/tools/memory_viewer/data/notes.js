// @ts-check
// The server's notes by what they weigh: one about less than a thousandth of the memory need not be read first. Pure.

const LEAST_SHARE = 0.001;
const BYTES = /\((\d+) bytes\)/g; // as the notes tell them exactly

/** A note that names no bytes is about the whole. @param {string[]} notes */
export function notesByWeight(notes, totalBytes) {
  const weighs = (note) => {
    const told = [...note.matchAll(BYTES)].map((match) => Number(match[1]));
    return told.length === 0 || Math.max(...told) >= LEAST_SHARE * totalBytes;
  };
  return { main: notes.filter(weighs), small: notes.filter((note) => !weighs(note)) };
}
