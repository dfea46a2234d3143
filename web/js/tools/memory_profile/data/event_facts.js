// @ts-check
// One event as facts to show, and as text to copy. Pure.
import { exactBytes, formatPercent, groupDigits } from "../../../base/format.js";
import { formatDuration, formatMs } from "../../../base/time_text.js";

/** The `i`-th event of an events reply. */
export function eventOf(reply, i = 0) {
  if (i >= reply.row.length) return null;
  const text = (name) => reply.strings[reply[name][i]] ?? "";
  return {
    row: reply.row[i],
    time: reply.time_ps[i],
    isFree: Boolean(reply.is_free[i]),
    requested: reply.requested_bytes[i],
    allocated: reply.allocated_bytes[i],
    heap: reply.heap_bytes[i],
    stack: reply.stack_bytes[i],
    free: reply.free_bytes[i],
    fragmentation: reply.fragmentation[i],
    address: reply.address[i],
    step: reply.step[i],
    stepIsCompleted: Boolean(reply.step_is_completed[i]),
    op: text("op"),
    region: text("region_type"),
    dataType: text("data_type"),
    shape: text("shape"),
    thread: text("thread"),
    partner: reply.partner_row[i],
    unexplained: reply.unexplained_bytes[i],
  };
}

/** XProf's words for the two kinds. */
export function kindOf(event) {
  return event.isFree ? "deallocation" : "allocation";
}

/** @returns {{label: string, bytes?: number | null, text?: string, title?: string}[][]} three columns */
export function factsOf(event, partner) {
  return [moveFacts(event, partner), siteFacts(event), stateFacts(event)];
}

function moveFacts(event, partner) {
  return [
    { label: "timestamp", text: formatMs(event.time, 6) },
    { label: "requested", bytes: event.requested },
    { label: event.isFree ? "freed" : "allocated", bytes: event.allocated },
    { label: event.isFree ? "was allocated" : "is freed", text: partnerText(event, partner) },
    { label: "address", text: event.address },
  ];
}

function partnerText(event, partner) {
  if (event.partner < 0) return event.isFree ? "before the first event, or unseen" : "not within the profile";
  if (!partner) return "…";
  const apart = formatDuration(Math.abs(partner.time - event.time));
  return event.isFree ? `${apart} before` : `after ${apart}`;
}

function siteFacts(event) {
  const untold = event.stepIsCompleted ? " (none told: after the last known)" : "";
  return [
    { label: "step", text: `${groupDigits(event.step)}${untold}` },
    { label: "region type", text: event.region },
    { label: "data type", text: event.dataType },
    { label: "shape", text: event.shape },
    { label: "thread", text: event.thread },
  ];
}

function stateFacts(event) {
  const fragmentation = event.fragmentation === null ? "not told" : formatPercent(event.fragmentation, 2);
  const title = "how far this state is from the one before plus what moved";
  return [
    { label: "memory in use", bytes: event.heap === null ? null : event.heap + event.stack },
    { label: "stack", bytes: event.stack },
    { label: "free", bytes: event.free },
    { label: "fragmentation", text: fragmentation },
    ...(event.unexplained ? [{ label: "unexplained", bytes: event.unexplained, title }] : []),
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
