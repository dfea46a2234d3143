// @ts-check
/**
 * What the advice for the program before foretold of its changes, beside what the program after needs: the nearest
 * prediction first. Which change was made nobody tells, so all that apply are there. Pure.
 *
 *     Rematerialize   predicted 4.92 GiB   4.31 to 5.53   actual 5.05   +0.13
 */
import { nameOfChange } from "../../../base/change_names.js";
import { column } from "../../../base/column.js";

/** @param {any} advice the reply of /advise for the program before @param {number} actual total of the one after */
export function foretoldRows(advice, actual) {
  const rows = advice.interventions.filter(({ applies }) => applies).map((one) => rowOf(one, actual));
  return rows.sort((a, b) => Math.abs(a.delta) - Math.abs(b.delta));
}

function rowOf(one, actual) {
  const predicted = one.predicted_total_bytes;
  return {
    id: one.id,
    title: nameOfChange(one),
    predicted,
    low: one.low_bytes,
    high: one.high_bytes,
    actual,
    delta: actual - predicted,
    verdict: actual < one.low_bytes ? "below the range" : actual > one.high_bytes ? "above the range" : "as foretold",
  };
}

const size = (key, label, csv) => column(key, label, "size", key, { csv, width: 118, scale: "size" });

export const FORETOLD_COLUMNS = [
  column("title", "Change", "text", "title", { csv: "Change" }),
  size("predicted", "Predicted", "PredictedBytes"),
  size("low", "from", "LowBytes"),
  size("high", "to", "HighBytes"),
  size("actual", "Actual", "ActualBytes"),
  size("delta", "Off by", "OffBytes"),
  column("verdict", "", "text", "verdict", { csv: "Verdict", width: 130 }),
];
