// @ts-check
// All events of a window as CSV, read in parts; a window of too many is refused with a word why.
import { fetchEvents } from "../../../../api.js";
import { csvText } from "../../../../base/csv.js";
import { groupDigits, plural } from "../../../../base/format.js";
import { eventsOf } from "../../data/event_facts.js";
import { EVENT_CSV } from "../data/event_columns.js";

const MOST_EVENTS = 250000;
const PER_REQUEST = 10000;

export function createEventCsv(context, say) {
  const controller = new AbortController();

  /** @returns {Promise<string | null>} */
  async function text(query, total) {
    if (total > MOST_EVENTS) {
      say(
        `CSV holds at most ${groupDigits(MOST_EVENTS)} events: zoom in, this window has ${plural(total, "event")}.`,
      );
      return null;
    }
    const parts = [];
    try {
      for (let offset = 0; offset === 0 || offset < total; offset += PER_REQUEST) {
        if (total > PER_REQUEST) say(`reading ${groupDigits(offset)} of ${groupDigits(total)}`);
        parts.push(await part(query, offset));
      }
      say("");
    } catch (error) {
      if (error.name !== "AbortError") say(error.message);
      return null;
    }
    return parts.join("");
  }

  async function part(query, offset) {
    const reply = await fetchEvents(context.where, { ...query, offset, limit: PER_REQUEST }, controller.signal);
    const lines = csvText(EVENT_CSV, eventsOf(reply));
    return offset === 0 ? lines : lines.slice(lines.indexOf("\n") + 1);
  }

  return { text, stop: () => controller.abort() };
}
