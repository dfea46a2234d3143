// @ts-check
// The pieces of a bar that is drawn to scale, and the mark of what the device has.
import { el } from "./dom.js";
import { exactBytes, formatSize } from "./format.js";

/** So many bytes wide; at `from` where it does not follow the piece before it. */
export function barPiece(className, bytes, scale, { from = null, title = null } = {}) {
  const node = el("span", { class: className, title });
  const share = (part) => `${(100 * part) / scale}%`;
  if (from !== null) node.style.left = share(from);
  node.style.width = share(bytes);
  return node;
}

/** None where the capacity is not known. */
export function capacityMark(capacity, scale, mode) {
  if (capacity === null) return null;
  return barPiece("capacity-mark", 0, scale, { from: capacity, title: `Capacity: ${sizeTold(capacity, mode)}` });
}

/** As tooltips have it: rounded, and exact. */
export function sizeTold(bytes, mode) {
  return `${formatSize(bytes, mode)} (${exactBytes(bytes)})`;
}
