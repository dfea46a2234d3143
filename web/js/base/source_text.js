// @ts-check
// Places in source files as text.

/** The end of a path, which tells files apart: "…/jax/train.py:70". */
export function shortSource(source) {
  const parts = source.split("/");
  return parts.length <= 3 ? source : `…/${parts.slice(-2).join("/")}`;
}
