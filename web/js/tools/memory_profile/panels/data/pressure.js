// @ts-check
// Could a request still be served? What is free is not what can be had: that is the largest free block. Pure.
import { column } from "../../../../base/column.js";
import { formatSize } from "../../../../base/format.js";

const EVENTS_BEFORE = 200;
const EVENTS_AFTER = 60;
const SHARE_AFTER = 0.4;
const LEAST_WINDOW_PS = 1000;

/** null: something is free, and the allocator did not tell in what pieces. */
export function largestFree(freeBytes, fragmentation) {
  if (freeBytes <= 0) return 0;
  return fragmentation === null ? null : Math.max(0, Math.round(freeBytes * (1 - fragmentation)));
}

/** What a request meets at a moment, as a sentence. `free` and `largest` in bytes, `largest` null when unknown. */
export function requestSentence(free, largest, unit) {
  if (free <= 0) return "nothing is free here: any request fails.";
  if (largest === null) return `${formatSize(free, unit)} are free here; in what pieces, the allocator did not tell.`;
  if (largest >= free) return `all ${formatSize(free, unit)} that are free here are one block.`;
  return `a request above ${formatSize(largest, unit)} fails here although ${formatSize(free, unit)} are free.`;
}

const KINDS = { stall: "failed request", pause: "pause", tightest: "tightest moment" };

/** Others are told for what they tell about the room there was. */
export const isFailure = (moment) => moment.kind === "stall";

/** The moments of the reply in time order, the tightest among them. */
export function momentRows({ tightest, moments }) {
  const rows = moments.map((one) => ({ ...one, id: `${one.kind} ${one.row}`, what: KINDS[one.kind] ?? one.kind }));
  const isListed = tightest === null || moments.some((one) => one.row === tightest.row);
  if (!isListed) rows.push(tightestRow(tightest));
  return rows.sort((a, b) => a.time_ps - b.time_ps || a.row - b.row);
}

function tightestRow(moment) {
  const open = { until_ps: null, request_bytes: null, request_is_known: false, step: null, text: "" };
  return { ...open, ...moment, kind: "tightest", id: "tightest", what: KINDS.tightest };
}

const lastedPs = (row) => (row.until_ps === null ? null : row.until_ps - row.time_ps);

export const MOMENT_COLUMNS = [
  column("time", "Time", "time", (row) => row.time_ps, { csv: "TimePs" }),
  column("step", "Step", "number", (row) => row.step, { csv: "Step", width: 64 }),
  column("what", "What", "text", (row) => row.what, { csv: "Kind" }),
  column("lasted", "Lasted", "duration", lastedPs, { csv: "LastedPs" }),
  column("request", "Request", "size", (row) => row.request_bytes, { csv: "RequestBytes" }),
  column("largest", "Largest free block", "size", (row) => row.largest_free_bytes, {
    csv: "LargestFreeBytes",
    width: 152,
  }),
  column("free", "Free", "size", (row) => row.free_bytes, { csv: "FreeBytes" }),
  column("fragmentation", "Fragmentation", "share", (row) => row.fragmentation, { csv: "Fragmentation" }),
];

export const MOMENT_CSV = [...MOMENT_COLUMNS, { csv: "Text", value: (row) => row.text }];

/** The events between which to look at a moment: how it came about, and a little of what followed. */
export function eventsAround(moment, events) {
  return { first: Math.max(0, moment.row - EVENTS_BEFORE), last: Math.min(events - 1, moment.row + EVENTS_AFTER) };
}

/** The window of a moment from the times of these events; a stall of seconds would push all else to its edge. */
export function windowOf(moment, firstPs, lastPs) {
  const before = Math.max(LEAST_WINDOW_PS, moment.time_ps - firstPs);
  const after = Math.min(
    Math.max(before * SHARE_AFTER, LEAST_WINDOW_PS),
    Math.max(lastPs - moment.time_ps, LEAST_WINDOW_PS),
  );
  return { from: Math.max(0, moment.time_ps - before), to: Math.ceil(moment.time_ps + after) };
}
