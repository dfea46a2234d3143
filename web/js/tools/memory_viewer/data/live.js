// @ts-check
// Which rows are live at a step of the program. Pure.

/** Rows live at `step`, the indefinite ones first, then in program order. @returns {Uint32Array} */
export function liveRows(model, step) {
  if (step === model.peakStep) return model.atPeak;
  const rows = new Uint32Array(model.count);
  let count = 0;
  for (let row = 0; row < model.count; row += 1) {
    if (isLive(model, row, step)) rows[count++] = row;
  }
  return rows.slice(0, count);
}

export function isLive(model, row, step) {
  return model.aliveBegin[row] <= step && step < model.aliveEnd[row];
}

export function sumOf(column, rows) {
  let total = 0;
  for (const row of rows) total += column[row];
  return total;
}

/** The buffer with most bytes, or null of none. */
export function largestRow(model, rows) {
  let best = null;
  for (const row of rows) {
    if (row !== model.othersRow && (best === null || model.size[row] > model.size[best])) best = row;
  }
  return best;
}
