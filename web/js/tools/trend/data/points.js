// @ts-check
/**
 * A reply of /trend as points, one for each session (or file) in order of time, and what is told of them. Pure.
 *
 * @typedef {{id: string, index: number, session: string, file: string | null, label: string, state: string,
 *            reason: string, host: string, name: string | null, of: number, timeS: number, peak: number | null,
 *            delta: number | null, total: number | null, held: number[], rest: number, told: string,
 *            before: Point | null}} Point
 *     `held`: what each line of the reply holds; `before`: the last point before it that is known
 */
import { column } from "../../../base/column.js";

/** @returns {Point[]} */
export function pointsOf({ points, lines }) {
  /** @type {Point | null} */
  let before = null;
  return points.session.map((session, index) => {
    const file = points.file[index];
    /** @type {Point} */
    const point = {
      id: file === null ? session : `${session}/${file}`,
      index,
      session,
      file,
      label: file === null || file === session ? session : `${session} / ${file}`,
      state: points.state[index],
      reason: points.reason[index] ?? (points.state[index] === "pending" ? "Being read." : ""),
      host: points.host[index],
      name: points.name[index],
      of: points.of[index],
      timeS: points.time_s[index],
      peak: points.peak_bytes[index],
      delta: points.peak_delta_bytes[index],
      total: points.total_allocation_bytes[index],
      held: lines.bytes.map((line) => line[index] ?? 0),
      rest: lines.rest_bytes[index] ?? 0,
      told: "",
      before,
    };
    point.told = toldOf(point, lines.key);
    if (point.peak !== null) before = point;
    return point;
  });
}

/** @param {Point[]} points */
export function pointAt(points, id) {
  return points.find((point) => point.id === id) ?? null;
}

/** The known point `by` steps from `from`, at most at the ends. @param {Point[]} points @param {Point | null} from */
export function neighbour(points, from, by) {
  const known = points.filter(({ peak }) => peak !== null);
  if (known.length === 0) return null;
  if (!from) return known[known.length - 1];
  const next =
    by > 0 ? known.find(({ index }) => index > from.index) : known.findLast(({ index }) => index < from.index);
  return next ?? (from.peak === null ? known[0] : from);
}

/** The address of Compare, from the point before to this one. @param {Point} point */
export function comparisonOf(point, space) {
  if (!point.before) return null;
  return {
    tag: "compare",
    run: point.before.session,
    module_name: point.before.name,
    host: point.before.host || null,
    run_b: point.session,
    module_b: point.name,
    host_b: point.host || null,
    memory_space: space ? String(space) : null,
  };
}

const OPENS = {
  memory_viewer: ({ name }, space) => ({ module_name: name, memory_space: space ? String(space) : null }),
  memory_profile: ({ name }) => ({ memory_id: name }),
  device_memory: ({ file }) => ({ file }),
};

/** The address of the tool that shows the point. @param {Point} point */
export function viewOf(point, tool, space) {
  return { tag: tool, run: point.session, host: point.host || null, ...OPENS[tool](point, space) };
}

/** The columns of the table, and of CSV, where each line is one more. */
export function columnsOf({ tool }) {
  const isProgram = tool === "memory_viewer";
  return [
    column("label", "Session", "text", "label", { csv: "session", width: "26%" }),
    column("time", "Time", "count", "timeS", { csv: "time_s", width: [130, 700, 0] }),
    column("peak", "Peak", "size", "peak", { csv: "peak_bytes", width: 96 }),
    column("delta", "Change", "size", "delta", { csv: "peak_delta_bytes", width: 96, noZero: true }),
    ...(isProgram ? [column("total", "Total", "size", "total", { csv: "total_allocation_bytes", width: 96 })] : []),
    column("told", "Most held by, or why it is not known", "text", "told", { csv: "told", fixed: true }),
  ];
}

/** What is saved has each line in a column of its own. */
export function csvColumnsOf(reply) {
  const lines = reply.lines.key.map((key, i) =>
    column(`line${i}`, key, "size", (point) => (point.peak === null ? null : point.held[i]), { csv: key }),
  );
  const restOf = (point) => (point.peak === null ? null : point.rest);
  const rest = column("rest", "the rest", "size", restOf, { csv: "rest" });
  const state = column("state", "State", "text", "state", { csv: "state" });
  return [...columnsOf(reply), state, ...lines, rest];
}

/** The line that holds most; why it is not known. */
function toldOf(point, keys) {
  if (point.peak === null) return point.state === "absent" ? point.reason : `${point.state}: ${point.reason}`;
  const most = point.held.reduce((best, bytes, i) => (bytes > point.held[best] ? i : best), 0);
  return keys[most] ?? "";
}

/** "2026-11-03 10:00", of a name's own clock. */
export function timeText(timeS) {
  return new Date(timeS * 1000).toISOString().slice(0, 16).replace("T", " ");
}
