// @ts-check
/**
 * How far a check of the advice against the compiler is, as /api/v1/check tells it, in words. Pure.
 *
 * Such a check runs in somebody's terminal and tells the server at least every 5 seconds; nobody tells that it was
 * killed, so silence has to.
 */
import { plural } from "../../../base/format.js";

/** Three times as long as it may take. */
export const SILENT_MS = 15000;

/**
 * @typedef {"none" | "running" | "silent" | "done" | "failed" | "stopped"} State
 * @typedef {{state: State, goesOn: boolean, headline: string, compiled: number, total: number,
 *     compiling: string | null, rows: any[], left: {reason: string, names: string[]}[], isOfFlags: boolean}} Progress
 *     `goesOn`: more may come, so ask again; `left` is not compiled at all
 */

/** @param {any} check of the reply; null: none was told @param {number} nowMs since 1970 @returns {Progress} */
export function checkProgress(check, nowMs) {
  if (check === null) return NONE;
  const state = check.state === "running" && check.age_ms > SILENT_MS ? "silent" : check.state;
  const isOfFlags = check.asked === "flags";
  const told = { ...check, state, newsMs: nowMs - check.age_ms };
  return {
    state,
    goesOn: state === "running" || state === "silent",
    headline: headlineOf(told),
    compiled: check.compiled,
    total: check.total,
    compiling: state === "running" ? check.compiling : null,
    rows: rowsOf(check.rows.filter(isShown), isOfFlags),
    left: leftOf(check.rows.filter((row) => !isShown(row))),
    isOfFlags,
  };
}

/** @type {Progress} */
const NONE = {
  state: "none",
  goesOn: true,
  headline: "Nothing was told of this program yet: run the command, and this is where it shows how far it is.",
  compiled: 0,
  total: 0,
  compiling: null,
  rows: [],
  left: [],
  isOfFlags: false,
};

// --- Words ---

function headlineOf(told) {
  const far = `${told.compiled} of ${told.total}`;
  const words = {
    running: told.total ? `${far} done${told.compiling ? `: ${told.compiling} …` : " …"}` : "It begins …",
    silent:
      `No news since ${timeOf(told.newsMs)}, with ${far} done. The command was ended without a word, or it does ` +
      "not reach this page any more: look at its terminal, or run it again.",
    done: `Done: ${plural(told.compiled, "compile")}${byWhom(told)}.${verdict(told.rows)}`,
    failed: `No answer: ${told.reason ?? "it did not say why."}`,
    stopped: `Stopped at ${timeOf(told.newsMs)}, with ${far} done. Run it again for the rest.`,
  };
  return words[told.state];
}

function byWhom({ target, compiler }) {
  return `${target ? ` for ${target}` : ""}${compiler ? ` by ${compiler}` : ""}`;
}

function verdict(rows) {
  const judged = rows.filter((row) => row.is_inside !== null);
  const inside = judged.filter((row) => row.is_inside).length;
  return judged.length ? ` ${inside} of ${plural(judged.length, "prediction")} inside the range.` : "";
}

function timeOf(ms) {
  return new Date(ms).toTimeString().slice(0, 8);
}

// --- Rows ---

const MARKS = { out_of_memory: "does not fit: the compiler gave up", too_big: "more than the limit all the same" };

/** What is no part of the compiled program is a list by itself: there is a reason for all of them, and no figure. */
const isShown = (row) => row.status !== "not_in_module";

/** Of flags the smallest total first, after the program as it is. */
function rowsOf(rows, isOfFlags) {
  const base = rows.find((row) => row.id === "as_it_is")?.compiled_total_bytes ?? null;
  const made = rows.map((row) => rowOf(row, base));
  return isOfFlags ? made.sort((a, b) => rank(a) - rank(b)) : made;
}

const rank = (row) => (row.id === "as_it_is" ? -1 : (row.compiled ?? Infinity));

function rowOf(row, base) {
  const { predicted_total_bytes: predicted, compiled_total_bytes: compiled } = row;
  const isRanged = row.low_bytes !== null && row.high_bytes !== null;
  return {
    id: row.id,
    name: row.name,
    predicted,
    range: isRanged ? [row.low_bytes, row.high_bytes] : null,
    compiled,
    offPercent: predicted === null || !compiled ? null : (100 * (predicted - compiled)) / compiled,
    isOutside: row.is_inside === false,
    change: base === null || compiled === null ? null : compiled - base,
    mark: MARKS[row.status] ?? (row.status === "failed" ? (row.reason ?? "failed") : null),
    hasFailed: row.status === "failed",
    seconds: row.seconds,
  };
}

function leftOf(rows) {
  const names = new Map();
  for (const { reason, name } of rows) names.set(reason ?? "", [...(names.get(reason ?? "") ?? []), name]);
  return [...names].map(([reason, all]) => ({ reason, names: all }));
}
