// @ts-check
// What to know first of a memory, and where each leads. Pure.

/** Where a kind of finding is looked at, and how heavy it is. What has no place here is said elsewhere (the peak). */
const PLACES = {
  failed: { panel: "fragmentation", weight: "failure" },
  pieces: { panel: "fragmentation", weight: "warning" },
  tight: { panel: "fragmentation", weight: "warning" },
  leak: { panel: "leaks", weight: "warning" },
  holder: { panel: "breakdown", weight: "fact" },
  unseen: { panel: "breakdown", weight: "fact" },
  peak_fragmented: { panel: "fragmentation", weight: "fact" },
  rounded: { panel: "churn", weight: "fact" },
};

/**
 * @param {any[]} findings of the reply
 * @returns {{kind: string, text: string, panel: string, weight: string, to: {at: number, row: number, from?: number,
 *            to?: number}}[]} `to` as workspace.goTo takes it
 */
export function findingRows(findings) {
  return findings
    .filter((one) => one.kind in PLACES)
    .map(({ kind, text, row, time_ps: at, from_ps: from, to_ps: to }) => ({
      kind,
      text,
      ...PLACES[kind],
      to: from === null ? { at, row } : { at, row, from, to },
    }));
}
