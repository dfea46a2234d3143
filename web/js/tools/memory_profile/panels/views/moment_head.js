// @ts-check
// Which moment a panel shows, and the way to others: the event before, the event after, the peak.
import { button, el, setText } from "../../../../base/dom.js";
import { groupDigits } from "../../../../base/format.js";
import { exactTime, formatMs } from "../../../../base/time_text.js";

export function createMomentHead(context) {
  const where = el("span", { class: "moment" });
  const before = button("‹ event", () => goToEvent(-1), { class: "quiet small", title: "the event before" });
  const after = button("event ›", () => goToEvent(1), { class: "quiet small", title: "the event after" });
  const peak = button("back to peak", () => context.goTo({ at: null }), { class: "quiet small to-peak" });
  const node = el("span", { class: "moment-head" }, where, before, after, peak);
  let row = null;
  let last = 0;

  function goToEvent(delta) {
    if (row !== null) context.goToEvent(row + delta);
  }

  /** @param {{row: number | null, time_ps: number, step: number | null, is_peak: boolean}} moment */
  function show(moment) {
    row = moment.row;
    last = context.overview.events - 1;
    setText(where, momentText(moment));
    where.title = exactTime(moment.time_ps);
    before.disabled = row === null || row <= 0;
    after.disabled = row === null || row >= last;
    peak.hidden = moment.is_peak;
  }

  return { node, show };
}

function momentText({ row, time_ps: time, step, is_peak: isPeak }) {
  const place = [formatMs(time, 6)];
  if (row !== null) place.unshift(`after event ${groupDigits(row + 1)}`);
  if (step !== null && step >= 0) place.push(`step ${groupDigits(step)}`);
  return `${isPeak ? "At the peak" : "At the chosen time"}: ${place.join(", ")}`;
}
