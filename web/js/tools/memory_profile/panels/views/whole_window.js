// @ts-check
// All events of a window, for a file: read in parts; a window of too many is refused with a word why.
import { fetchEvents } from "../../../../api.js";
import { groupDigits, plural } from "../../../../base/format.js";
import { eventsOf } from "../../data/event_facts.js";

const MOST_EVENTS = 250000;
const PER_REQUEST = 10000;

export function createWholeWindow(context, say) {
  const controller = new AbortController();

  /** @returns {Promise<any[] | null>} */
  async function rows(query, total) {
    if (total > MOST_EVENTS) {
      const here = plural(total, "event");
      say(`A file holds at most ${groupDigits(MOST_EVENTS)} events: zoom in, this window has ${here}.`);
      return null;
    }
    const parts = [];
    try {
      for (let offset = 0; offset === 0 || offset < total; offset += PER_REQUEST) {
        if (total > PER_REQUEST) say(`reading ${groupDigits(offset)} of ${groupDigits(total)}`);
        const asked = { ...query, offset, limit: PER_REQUEST };
        parts.push(eventsOf(await fetchEvents(context.where, asked, controller.signal)));
      }
      say("");
    } catch (error) {
      if (error.name !== "AbortError") say(error.message);
      return null;
    }
    return parts.flat();
  }

  return { rows, stop: () => controller.abort() };
}
