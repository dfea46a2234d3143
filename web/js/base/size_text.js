// @ts-check
// Sizes typed by a person: "15.75GiB", "16 GB", "15.75G" (as XLA writes GiB), "16911433728".

const FACTORS = {
  "": 1,
  b: 1,
  k: 2 ** 10,
  kib: 2 ** 10,
  kb: 1e3,
  m: 2 ** 20,
  mib: 2 ** 20,
  mb: 1e6,
  g: 2 ** 30,
  gib: 2 ** 30,
  gb: 1e9,
  t: 2 ** 40,
  tib: 2 ** 40,
  tb: 1e12,
};

/** @returns {number | null} whole bytes, or null when the text is not a positive size */
export function parseSize(text) {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([a-z]*)\s*$/i.exec(text ?? "");
  if (!match) return null;
  const factor = FACTORS[match[2].toLowerCase()];
  const bytes = Math.round(Number(match[1].replace(",", ".")) * factor);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}

/** A size as one would type it: "15.75GiB"; the bytes where that would round them. */
export function sizeAsTyped(bytes) {
  const gib = bytes / FACTORS.gib;
  return Number.isInteger(gib * 100) ? `${gib}GiB` : String(bytes);
}
