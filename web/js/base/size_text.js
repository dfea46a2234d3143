// @ts-check
// Sizes typed by a person, as the program reads them: "15.75GiB", "16 GB", "15.75G", "16911433728".

const FACTORS = { "": 1, b: 1 };
["k", "m", "g", "t", "p"].forEach((letter, i) => {
  for (const unit of ["", "b", "ib"]) FACTORS[letter + unit] = 2 ** (10 * (i + 1));
});

/** @returns {number | null} whole bytes, or null when the text is not a positive size */
export function parseSize(text) {
  const match = /^\s*(\d+(?:[.,]\d+)?)\s*([a-z]*)\s*$/i.exec(text ?? "");
  if (!match) return null;
  const factor = FACTORS[match[2].toLowerCase()];
  if (factor === 1 && /[.,]/.test(match[1])) return null;
  const bytes = Math.round(Number(match[1].replace(",", ".")) * factor);
  return Number.isSafeInteger(bytes) && bytes > 0 ? bytes : null;
}

/** A size as one would type it: "15.75GiB"; the bytes where that would round them. */
export function sizeAsTyped(bytes) {
  const gib = bytes / FACTORS.gib;
  return Number.isInteger(gib * 100) ? `${gib}GiB` : String(bytes);
}
