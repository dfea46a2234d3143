// @ts-check
// The events that are looked at one by one, with their partners; kept, since the mouse comes back.
import { createLatest, fetchEvents, fetchTimeline } from "../../api.js";
import { eventOf } from "./data/event_facts.js";

const REST_MS = 30; // the mouse is passing by
const KEPT = 2000;

export function createEventDetails(where, eventCount) {
  /** @type {Map<number, any>} */
  const known = new Map();
  const controller = new AbortController();
  const latest = createLatest();
  const stepping = createLatest();
  let timer = 0;

  async function load(row, signal) {
    if (known.has(row)) return known.get(row);
    const event = eventOf(await fetchEvents(where, { row }, signal));
    if (known.size >= KEPT) known.clear();
    if (event) known.set(row, event);
    return event;
  }

  async function loadPair(row, signal) {
    const event = await load(row, signal);
    if (event && event.partner >= 0) await load(event.partner, signal);
    return event;
  }

  /** What is known of an event now: {event, partner}, null when it has to be asked for. */
  function get(row) {
    const event = known.get(row);
    return event ? { event, partner: known.get(event.partner) ?? null } : null;
  }

  function isWhole(row) {
    const found = get(row);
    return found !== null && (found.event.partner < 0 || found.partner !== null);
  }

  /** Asks once the mouse rests; the last one wins. */
  function want(row, done) {
    clearTimeout(timer);
    if (isWhole(row)) return;
    timer = window.setTimeout(() => {
      latest.run((signal) => loadPair(row, signal)).then(() => done(row), quietly);
    }, REST_MS);
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
    get,
    want,
    at,
    rowAt,
    stop() {
      clearTimeout(timer);
      controller.abort();
      latest.stop();
      stepping.stop();
    },
  };
}

/** An event that cannot be had leaves the card as it is; the server's sentence stands in the console. */
function quietly(error) {
  if (error.name !== "AbortError") console.warn(error);
}
