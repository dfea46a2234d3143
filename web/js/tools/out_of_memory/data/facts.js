// @ts-check
/**
 * What one message says, in one sentence and as figures to scale. Every figure may be null: messages are cut off. Pure.
 * @typedef {{label: string, bytes: number, className: string}} Segment
 * @typedef {{label: string, title: string, bytes: number, over: number, segments: Segment[]}} Bar `over` the capacity
 */
import { formatSize, plural } from "../../../base/format.js";

const known = (value) => value !== null && value !== undefined;

/** The one figure that was wanted. */
export function wantedBytes(message) {
  return message.needed_bytes ?? message.requested_bytes ?? sumOf(message.tensorcore_bytes, message.sparsecore_bytes);
}

function sumOf(a, b) {
  return known(a) && known(b) ? a + b : null;
}

export function exceededBytes(message) {
  const wanted = wantedBytes(message);
  if (known(message.exceeded_bytes)) return message.exceeded_bytes;
  return known(wanted) && known(message.capacity_bytes) && wanted > message.capacity_bytes
    ? wanted - message.capacity_bytes
    : null;
}

/** "hbm" is a name that people write in capitals. */
export function spaceName(message) {
  const name = message.memory_space ?? "";
  return name.length > 0 && name.length <= 5 ? name.toUpperCase() : name || "memory";
}

export function sentenceOf(message, mode = "auto") {
  const size = (bytes) => (known(bytes) ? formatSize(bytes, mode) : "an unknown amount");
  return (SENTENCES[message.kind] ?? plainSentence)(message, size);
}

/** @type {Record<string, (message: any, size: (bytes: number | null) => string) => string>} */
const SENTENCES = {
  compile_oom: (message, size) =>
    `${message.module ?? "The program"} needs ${size(wantedBytes(message))} of ${spaceName(message)}` +
    `${capacityPart(message, size)}. The compiler refused it; nothing ran.`,
  tensorcore_sparsecore_oom: (message, size) =>
    `TensorCore wants ${size(message.tensorcore_bytes)} of HBM and SparseCore ${size(message.sparsecore_bytes)}` +
    `${capacityPart(message, size)}. They share the same memory.`,
  allocation_exceeds_memory: (message, size) =>
    `One buffer alone takes ${size(wantedBytes(message))}${capacityPart(message, size)}. ` +
    "No other change helps until this buffer is smaller.",
  program_load: (message, size) =>
    `${message.module ?? "The program"} compiled, but it could not be loaded: it asks for ` +
    `${size(wantedBytes(message))} in one piece${freePart(message, size)}.`,
  runtime_allocation: (message, size) =>
    `While running, ${size(wantedBytes(message))} were asked for${freePart(message, size)}.`,
  gpu_allocation: (message, size) =>
    `The GPU did not have ${size(wantedBytes(message))} free, which ${message.module ?? "the program"} needs at once.`,
  gpu_allocator: (message, size) =>
    `${message.allocator ?? "The GPU's allocator"} could not give ${size(wantedBytes(message))}` +
    `${message.requested_by ? ` to ${message.requested_by}` : ""}${limitPart(message, size)}.`,
};

function plainSentence(message, size) {
  return `${size(wantedBytes(message))} were wanted${capacityPart(message, size)}.`;
}

function capacityPart(message, size) {
  if (!known(message.capacity_bytes)) return "";
  const over = exceededBytes(message);
  return `; the device has ${size(message.capacity_bytes)}${known(over) ? `, ${size(over)} too little` : ""}`;
}

function freePart(message, size) {
  if (!known(message.free_bytes)) return "";
  const piece = known(message.reservable_bytes) ? `, ${size(message.reservable_bytes)} of that in one piece` : "";
  return `; ${size(message.free_bytes)} are free${piece}`;
}

function limitPart(message, size) {
  return known(message.capacity_bytes) ? `; it may use ${size(message.capacity_bytes)}` : "";
}

/** What stands in small print beside the title. @returns {string[]} */
export function marksOf(message) {
  const places = [];
  if (message.count > 1) places.push(`${plural(message.count, "time")} in the log`);
  if (message.line > 0) places.push(message.count > 1 ? `first at line ${message.line}` : `line ${message.line}`);
  return places;
}

/** @returns {{bars: Bar[], capacity: number | null, scale: number}} bars to one scale; none when no figure is known */
export function barsOf(message) {
  const capacity = message.capacity_bytes ?? message.breakdown?.Limit ?? null;
  const wanted = barOf("wanted", "what the message says was wanted", wantedSegments(message), capacity);
  const joined = barOf("its buffers", "the allocations of this program, by category", joinedSegments(message), null);
  const bars = [wanted, ...freeBars(message), joined].filter((bar) => bar.bytes > 0);
  return { bars, capacity, scale: Math.max(0, capacity ?? 0, ...bars.map((bar) => bar.bytes)) };
}

/** @returns {Bar} without the segments that are not known */
function barOf(label, title, all, capacity = null) {
  const segments = all.filter((segment) => known(segment.bytes) && segment.bytes > 0);
  const bytes = segments.reduce((sum, segment) => sum + segment.bytes, 0);
  return { label, title, segments, bytes, over: capacity === null ? 0 : Math.max(0, bytes - capacity) };
}

function wantedSegments(message) {
  const inUse = message.breakdown?.InUse; // of a GPU's allocator
  if (known(message.tensorcore_bytes) && known(message.sparsecore_bytes)) {
    return [
      { label: "TensorCore", bytes: message.tensorcore_bytes, className: "oom-wanted" },
      { label: "SparseCore", bytes: message.sparsecore_bytes, className: "oom-wanted-too" },
    ];
  }
  return [
    { label: "in use", bytes: inUse ?? null, className: "oom-held" },
    { label: "wanted", bytes: wantedBytes(message), className: "oom-wanted" },
  ];
}

function freeBars(message) {
  const bar = (label, title, bytes) => barOf(label, title, [{ label, bytes, className: "mem-free" }]);
  return [
    bar("free", "what the message says is free", message.free_bytes),
    bar("in one piece", "the largest piece that could be reserved", message.reservable_bytes),
  ];
}

const CATEGORIES = [
  ["parameter", "Arguments"],
  ["output", "Outputs"],
  ["constant", "Constants"],
  ["temporary", "Temporaries"],
];

/** What the program's own buffers are, where it was found. */
function joinedSegments(message) {
  const totals = message.joined?.totals ?? {};
  const bytesOf = (key) => totals[key === "parameter" ? "argument_bytes" : `${key}_bytes`] ?? 0;
  return CATEGORIES.map(([key, label]) => ({ label, bytes: bytesOf(key), className: `cat-${key}` }));
}

/** Rows of the breakdown as the message words them; a count is no size. */
export function breakdownRows(message) {
  return Object.entries(message.breakdown ?? {})
    .filter(([, value]) => known(value))
    .map(([name, value]) => ({ name, value, isCount: /^num|count$/i.test(name) }));
}
