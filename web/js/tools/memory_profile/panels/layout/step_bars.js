// @ts-check
// Bars of what is held at the end of each step: at most as many as there is room for. Pure.

/**
 * @param {number[]} values one for each step
 * @param {number} most bars
 * @returns {{first: number, last: number, value: number}[]} a bar of several steps ([first, last]) tells the last one
 */
export function stepBars(values, most) {
  const per = Math.max(1, Math.ceil(values.length / Math.max(1, most)));
  const bars = [];
  for (let first = 0; first < values.length; first += per) {
    const last = Math.min(values.length, first + per) - 1;
    bars.push({ first, last, value: values[last] });
  }
  return bars;
}

/** Heights in pixels, the largest value `height` high; what is there has at least one pixel. */
export function barHeights(values, height) {
  const most = Math.max(1, ...values);
  return values.map((value) => (value > 0 ? Math.max(1, (height * value) / most) : 0));
}
