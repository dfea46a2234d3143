// @ts-check
// What a person types to find names: plain text (names are full of brackets) or a regular expression, in any case.

/** @returns {((text: string) => boolean) | null} null when nothing is searched */
export function matcher(query) {
  const text = (query ?? "").trim();
  if (text === "") return null;
  const plain = text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
  const pattern = compiled(`${plain}|${text}`) ?? new RegExp(plain, "i");
  return (candidate) => pattern.test(candidate);
}

function compiled(source) {
  try {
    return new RegExp(source, "i");
  } catch {
    return null;
  }
}
