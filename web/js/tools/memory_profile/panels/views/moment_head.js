// @ts-check
// Which moment a panel shows, and the way to others: the event before, the event after, the peak.
import { fetchEvents } from "../../../../api.js";
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

  /** An event's time may be that of others, too: the row says which one is meant. */
  async function goToEvent(delta) {
    if (row === null) return;
    const reply = await fetchEvents(context.where, { row: row + delta }).catch(() => null);
    if (reply?.row.length) context.goTo({ at: reply.time_ps[0], row: reply.row[0] });
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
