// @ts-check
// The largest allocations that the message lists, and, where its program was found, the way to each buffer.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { pickUnit } from "../../../base/format.js";
import { copyButton } from "../../../base/clipboard.js";
import { shortSource } from "../../../base/source_text.js";
import { plainTable } from "../../../base/plain_table.js";
import { LARGEST_COLUMNS } from "../data/largest.js";
import { bufferParams } from "../data/links.js";
import { appLink } from "./app_link.js";
import { tablePart } from "./part.js";

const SHOWN = 20;

export function largestNode(message, context) {
  const entries = message.largest ?? [];
  if (entries.length === 0) return null;
  const more = entries.length - SHOWN + (message.largest_left_out ?? 0);
  const unit = pickUnit(Math.max(...entries.map((entry) => entry.size_bytes ?? 0)), context.mode);
  const rows = entries.slice(0, SHOWN).map((entry) => rowOf(entry, message, unit, context));
  const region = { class: "oom-table-scroll", tabindex: 0, role: "region", "aria-label": "largest allocations" };
  return tablePart(
    TITLES[message.largest_from] ?? TITLES.message,
    { columns: () => LARGEST_COLUMNS, rows: () => entries },
    el("div", region, plainTable({ class: "oom-table oom-largest" }, HEADS, rows)),
    more > 0 ? el("p", { class: "note" }, `and ${more} more in the text`) : null,
  );
}

const TITLES = {
  message: "Largest allocations, as the message lists them",
  profile: "Its largest buffers",
};

const HEADS = [
  ["Size", "number"],
  ["Unpadded", "number"],
  ["Operation", "operation"],
  ["Source", ""],
  ["Shape", ""],
  ["Type", "type"],
];

function rowOf(entry, message, unit, context) {
  return el(
    "tr",
    {},
    el("td", { class: "number" }, size(entry.size_bytes, unit)),
    el("td", { class: "number" }, size(entry.unpadded_bytes, unit)),
    el("td", { class: "operation mono", title: entry.label ?? null }, operationOf(entry, message, context)),
    copyCell(entry.source, "copy the source line", shortSource),
    copyCell(entry.shape, "copy the shape", (shape) => shape),
    el("td", { class: "type" }, entry.allocation_type ?? ""),
  );
}

function size(bytes, unit) {
  return bytes === null || bytes === undefined ? "" : sizeFigure(bytes, "auto", unit);
}

function copyCell(text, title, shorten) {
  if (!text) return el("td", {});
  return el(
    "td",
    { class: "copy-cell", title: text },
    el("span", { class: "mono" }, shorten(text)),
    copyButton(() => text, { title }),
  );
}

/** Where its program was found it leads into the Memory Viewer, with that buffer pinned. */
function operationOf(entry, message, context) {
  const name = entry.op_name ?? entry.label ?? "";
  const params = bufferParams(message, entry, context.capacity);
  return params ? appLink(name || "this buffer", params, context.follow, "Show this buffer") : name;
}
