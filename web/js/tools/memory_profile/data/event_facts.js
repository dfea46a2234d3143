// @ts-check
// One event as facts to show, and as text to copy. Pure.
import { exactBytes, formatPercent, groupDigits } from "../../../base/format.js";
import { rowsOf } from "../../../base/reply_rows.js";
import { formatDuration, formatMs } from "../../../base/time_text.js";

/** What an allocation site says of itself. */
export const SITE_TEXTS = ["op", "region_type", "data_type", "shape"];

/** The events of a reply as rows. */
export const eventsOf = (reply) => rowsOf(reply, reply.strings, [...SITE_TEXTS, "thread"]);

/** XProf's words for the two kinds. */
export function kindOf(event) {
  return event.is_free ? "deallocation" : "allocation";
}

/** @returns {{label: string, bytes?: number | null, text?: string, title?: string}[][]} three columns */
export function factsOf(event, partner) {
  return [moveFacts(event, partner), siteFacts(event), stateFacts(event)];
}

function moveFacts(event, partner) {
  return [
    { label: "timestamp", text: formatMs(event.time_ps, 6) },
    { label: "requested", bytes: event.requested_bytes },
    { label: event.is_free ? "freed" : "allocated", bytes: event.allocated_bytes },
    { label: event.is_free ? "was allocated" : "is freed", text: partnerText(event, partner) },
    { label: "address", text: event.address },
  ];
}

function partnerText(event, partner) {
  if (event.partner_row < 0) return event.is_free ? "before the first event, or unseen" : "not within the profile";
  if (!partner) return "…";
  const apart = formatDuration(Math.abs(partner.time_ps - event.time_ps));
  return event.is_free ? `${apart} before` : `after ${apart}`;
}

function siteFacts(event) {
  const untold = event.step_is_completed ? " (none told: after the last known)" : "";
  return [
    { label: "step", text: `${groupDigits(event.step)}${untold}` },
    { label: "region type", text: event.region_type },
    { label: "data type", text: event.data_type },
    { label: "shape", text: event.shape },
    { label: "thread", text: event.thread },
  ];
}

function stateFacts(event) {
  const fragmentation = event.fragmentation === null ? "not told" : formatPercent(event.fragmentation, 2);
  const title = "how far this state is from the one before plus what moved";
  return [
    { label: "memory in use", bytes: event.heap_bytes === null ? null : event.heap_bytes + event.stack_bytes },
    { label: "stack", bytes: event.stack_bytes },
    { label: "free", bytes: event.free_bytes },
    { label: "fragmentation", text: fragmentation },
    ...(event.unexplained_bytes ? [{ label: "unexplained", bytes: event.unexplained_bytes, title }] : []),
  ];
}

export function eventText(event, partner) {
  const lines = factsOf(event, partner)
    .flat()
    .map(
      ({ label, bytes, text }) => `${label}: ${bytes === undefined ? text : bytes === null ? "" : exactBytes(bytes)}`,
    );
  return [`${kindOf(event)} ${groupDigits(event.row)}: ${event.op}`, ...lines].join("\n");
}
