// @ts-check
// The events that are looked at one by one, with their partners.
import { createLatest, fetchEvents, fetchTimeline } from "../../api.js";
import { createDetails } from "../../base/details.js";
import { eventsOf } from "./data/event_facts.js";

const REST_MS = 30; // the mouse is passing by
const KEPT = 2000;

/** Of each {event, partner}; an event that was asked for by itself has no partner yet. */
export function createEventDetails(where, eventCount) {
  const details = createDetails(loadPair, { restMs: REST_MS, most: KEPT, isWhole });
  const controller = new AbortController();
  const stepping = createLatest();

  async function load(row, signal) {
    const known = details.get(row)?.event;
    if (known) return known;
    const event = eventsOf(await fetchEvents(where, { row }, signal))[0] ?? null;
    details.keep(row, { event, partner: null });
    return event;
  }

  async function loadPair(row, signal) {
    const event = await load(row, signal);
    return { event, partner: event && event.partner_row >= 0 ? await load(event.partner_row, signal) : null };
  }

  /** An event at once, for stepping: the last one asked for wins. */
  function at(row) {
    return stepping.run((signal) => load(Math.max(0, Math.min(eventCount - 1, row)), signal));
  }

  /** The last event at or before a time; null before the first. */
  async function rowAt(time) {
    const query = { from_ps: time, to_ps: time + 1, buckets: 1 };
    const reply = await fetchTimeline(where, query, controller.signal);
    const last = reply.first_row.length - 1;
    return last >= 0 ? reply.first_row[last] + reply.count[last] - 1 : (reply.before?.row ?? null);
  }

  return {
    ...details,
    at,
    rowAt,
    stop() {
      controller.abort();
      details.stop();
      stepping.stop();
    },
  };
}

const isWhole = ({ event, partner }) => event === null || event.partner_row < 0 || partner !== null;
