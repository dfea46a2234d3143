// @ts-check
// What a person types to find names: plain text (names are full of brackets) or a regular expression, in any case.

/** @returns {((text: string) => boolean) | null} null when nothing is searched */
export function matcher(query) {
  const text = (query ?? "").trim();
  if (text === "") return null;
  const lower = text.toLowerCase();
  const pattern = compiled(text);
  return (candidate) => candidate.toLowerCase().includes(lower) || (pattern !== null && pattern.test(candidate));
}

function compiled(text) {
  try {
    return new RegExp(text, "i");
  } catch {
    return null;
  }
}
