// @ts-check
// What the server reads for the page, as a phrase.
import { formatSize, groupDigits } from "../base/format.js";

/**
 * A row of the reply "work" (docs/api.md).
 * @typedef {{request: string, path: string, waited_ms: number, read_bytes: number, wanted_bytes: number,
 *            listed_names: number}} WorkRow
 */

const API = "/api/v1/";

/** The part of an address that a proxy leaves as it is. */
const resourceOf = (address) => address.slice(address.indexOf(API));

/** The request of ours that has waited longest. @param {WorkRow[]} rows under way @param {string[]} ours */
export function longestWait(rows, ours) {
  const mine = new Set(ours.map(resourceOf));
  const waiting = rows.filter((row) => row.path !== "" && mine.has(resourceOf(row.request)));
  return waiting.sort((a, b) => b.waited_ms - a.waited_ms)[0] ?? null;
}

/** "reading tpu-vm-0.xplane.pb, 12.00 MiB of 24.00 MiB". @param {WorkRow} row */
export function workText(row) {
  if (row.listed_names > 0) return `listing ${row.path}, ${groupDigits(row.listed_names)} names`;
  const name = row.path.split("/").at(-1) || row.path;
  if (row.read_bytes === 0) return `reading ${name}`;
  const isKnown = row.wanted_bytes > row.read_bytes;
  return `reading ${name}, ${formatSize(row.read_bytes)}${isKnown ? ` of ${formatSize(row.wanted_bytes)}` : ""}`;
}
