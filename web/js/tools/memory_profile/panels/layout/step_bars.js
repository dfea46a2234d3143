// @ts-check
// Bars of what is held at the end of each step: at most as many as there is room for. Pure.

/**
 * @param {number[]} values one for each step
 * @param {number} most bars
 * @param {number} height pixels of the highest bar; what is there has at least one
 * @returns {{first: number, last: number, value: number, height: number}[]} a bar of several steps ([first, last])
 *     tells the last one
 */
export function stepBars(values, most, height) {
  const per = Math.max(1, Math.ceil(values.length / Math.max(1, most)));
  const bars = [];
  for (let first = 0; first < values.length; first += per) {
    const last = Math.min(values.length, first + per) - 1;
    bars.push({ first, last, value: values[last] });
  }
  const highest = Math.max(1, ...bars.map((bar) => bar.value));
  const heightOf = (value) => (value > 0 ? Math.max(1, (height * value) / highest) : 0);
  return bars.map((bar) => ({ ...bar, height: heightOf(bar.value) }));
}
