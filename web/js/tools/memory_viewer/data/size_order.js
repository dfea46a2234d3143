// @ts-check
// Rows by size. Many buffers share few sizes, and numbers are sorted much faster than by a function that compares rows:
// so the sizes are sorted, and each row takes the next place of its size. Pure.

/** @returns {Uint32Array} all rows, larger first; rows of one size as they come */
export function largestFirst(sizes) {
  const sorted = Float64Array.from(sizes).sort();
  const count = sorted.length;
  const next = new Map();
  for (let i = 0; i < count; i += 1) next.set(sorted[i], count - 1 - i);
  const out = new Uint32Array(count);
  for (let row = 0; row < count; row += 1) {
    const place = next.get(sizes[row]);
    out[place] = row;
    next.set(sizes[row], place + 1);
  }
  return out;
}
