// @ts-check
// Free memory and its largest block at the chosen time: known for the peak, asked for elsewhere.
import { createLatest, fetchEvents, fetchTimeline } from "../../../api.js";
import { largestFree } from "./data/pressure.js";

/** @param {() => void} onChange */
export function createChosenState(context, onChange) {
  const latest = createLatest();
  let now = null;

  async function update() {
    const { at, row } = context.state.get();
    try {
      now = await latest.run((signal) => find(context, at, row ?? null, signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      now = null;
    }
    onChange();
  }

  return { update, get: () => now, stop: () => latest.stop() };
}

async function find({ where, overview }, at, row, signal) {
  if (at === null) return stateOf(overview.at_peak, overview.peak_ps);
  if (row !== null) {
    const reply = await fetchEvents(where, { row }, signal);
    const told = reply.free_bytes[0] ?? null;
    if (told !== null) return stateOf({ free_bytes: told, fragmentation: reply.fragmentation[0] }, at);
  }
  const reply = await fetchTimeline(where, { from_ps: at + 1, to_ps: at + 2, buckets: 1 }, signal);
  return stateOf(reply.before, at);
}

function stateOf(state, time) {
  if (!state || state.free_bytes === null) return null;
  return { time, free: state.free_bytes, largest: largestFree(state.free_bytes, state.fragmentation) };
}
