// @ts-check
/**
 * Who holds what did not fit, as the server sums it up: at the peak of the joined program, or of the list in a message.
 * Pure.
 */
import { column } from "../../../base/column.js";
import { formatSize, plural } from "../../../base/format.js";

/** "11 x 3.00 GiB and 23 more" */
export function alikeText({ buffers, alike, alike_bytes: bytes }, mode = "auto") {
  const size = formatSize(bytes, mode);
  if (buffers === 1) return "1 buffer";
  if (alike === buffers) return `${alike} x ${size}`;
  if (alike === 1) return `${plural(buffers, "buffer")}, largest ${size}`;
  return `${alike} x ${size} and ${buffers - alike} more`;
}

export function holdersTitle({ from, by }) {
  if (from === "message") return "Who holds it, of what the message lists";
  return `Who holds it at the peak, by ${by}`;
}

/** What the table does not show. */
export function leftOutText({ left_out: count, left_out_bytes: bytes }, mode = "auto") {
  return count > 0 ? `${count} more hold ${formatSize(bytes, mode)}.` : "";
}

export const HOLDER_COLUMNS = [
  column("key", "Held by", "text", "key", { csv: "HeldBy" }),
  column("size", "Size", "size", "size_bytes", { csv: "SizeBytes" }),
  column("share", "Share", "share", "share", { csv: "Share" }),
  column("buffers", "Buffers", "count", "buffers", { csv: "Buffers" }),
  column("alike", "Alike", "count", "alike", { csv: "AlikeBuffers" }),
  column("each", "Each", "size", "alike_bytes", { csv: "AlikeBytes" }),
  column("about", "About", "text", (row) => row.about ?? null, { csv: "About" }),
];
