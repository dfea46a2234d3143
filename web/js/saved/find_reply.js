// @ts-check
/**
 * Which of the replies in a saved page answers a request, and what part of it. Pure.
 * @typedef {{resource: string, query: Record<string, string>, each?: string}} Kept a reply in the page: what it
 *     answers; with `each` it holds many, by the value of that key
 */

const NOT_ASKED = ["since", "first", "prefer"]; // they change how a reply comes, not what it says
/** What a request need not name: any host or memory will do, and what is usual. */
const MAY_BE_LEFT_OUT = {
  host: () => true,
  memory_id: () => true,
  memory_space: (value) => value === "0",
  by: (value) => value === "source",
};

/** Of the replies to a resource the one that answers just this query. @param {Kept[]} replies */
export function findReply(replies, resource, query) {
  const asked = Object.entries(query).filter(([key]) => !NOT_ASKED.includes(key));
  return replies.findIndex((one) => one.resource === resource && answers(one, asked, query));
}

/** @param {Kept} kept */
function answers({ resource, query, each }, asked, whole) {
  const inside = windowKeys(resource);
  const needed = Object.keys(query).filter((key) => !inside.includes(key) && !MAY_BE_LEFT_OUT[key]?.(query[key]));
  return (
    asked.every(([key, value]) => key === each || inside.includes(key) || query[key] === value) &&
    [...needed, each].every((key) => key === undefined || whole[key] !== undefined)
  );
}

/** What a whole reply is cut by here, since no server does it. */
function windowKeys(resource) {
  if (resource === "memory_profile/timeline") return ["from_ps", "to_ps", "buckets"];
  if (resource === "memory_profile/events") return ["from_ps", "to_ps", "offset", "limit", "only", "row"];
  return [];
}

/** The part of a whole reply that was asked for; null where the page does not hold it. */
export function partOf({ resource, each }, body, query) {
  if (each) return body[query[each]] ?? null;
  if (resource === "memory_profile/timeline") return timelineOf(body, query);
  if (resource === "memory_profile/events") return eventsOf(body, query);
  return body;
}

const columnsOf = (body, length) =>
  Object.keys(body).filter((key) => Array.isArray(body[key]) && key !== "strings" && body[key].length === length);

/** Every event its own entry: any window can be cut out. Else the window of the whole profile is all there is. */
function timelineOf(body, { from_ps: from, to_ps: to }) {
  const [begin, end] = [Number(from ?? body.from_ps), Number(to ?? body.to_ps)];
  if (!body.is_exact) return begin <= body.from_ps && end >= body.to_ps ? body : null;
  const times = body.time_ps;
  const first = lowerBound(times, begin);
  const last = lowerBound(times, end);
  const cut = { ...body, from_ps: begin, to_ps: end, events: last - first };
  for (const key of columnsOf(body, times.length)) cut[key] = body[key].slice(first, last);
  if (first > 0) cut.before = stateAt(body, first - 1);
  return cut;
}

function stateAt(body, i) {
  return {
    row: body.first_row[i],
    heap_bytes: body.heap_last[i],
    stack_bytes: body.stack_last[i],
    free_bytes: body.free_last[i],
    fragmentation: body.fragmentation_last[i],
  };
}

function lowerBound(sorted, value) {
  const found = sorted.findIndex((one) => one >= value);
  return found < 0 ? sorted.length : found;
}

/** The events of the page are the first of the profile: what lies behind them is not here. */
function eventsOf(body, query) {
  const rows = body.row.map((_, i) => i);
  const isWhole = body.row.length === body.total;
  if (query.row !== undefined) return pick(body, rows.filter((i) => body.row[i] === Number(query.row)), 1);
  if (!isWhole) return null;
  const [from, to] = [Number(query.from_ps ?? -Infinity), Number(query.to_ps ?? Infinity)];
  const inWindow = rows.filter((i) => body.time_ps[i] >= from && body.time_ps[i] < to);
  const isOdd = (i) => body.unexplained_bytes[i] !== 0 || body.unexplained_stack_bytes[i] !== 0;
  const wanted = query.only ? inWindow.filter(isOdd) : inWindow;
  const offset = Number(query.offset ?? 0);
  return pick(body, wanted.slice(offset, offset + Number(query.limit ?? 1000)), wanted.length, offset);
}

function pick(body, rows, total, offset = 0) {
  if (rows.length === 0 && total === 1) return null;
  const part = { ...body, total, offset };
  for (const key of columnsOf(body, body.row.length)) part[key] = rows.map((i) => body[key][i]);
  return part;
}
