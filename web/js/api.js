// @ts-check
// The HTTP API: the only thing the page knows of the world. Errors carry the server's own sentence, file and offset.
import {
  apiUrl,
  askJson,
  memoryGroupRowsUrl,
  memoryGroupsUrl,
  memoryOverviewUrl,
  memoryProfileUrl,
  STOPPED,
  stopAsking,
  takeEarly,
} from "./early.js";

export class ApiError extends Error {
  constructor(status, body, path) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.file = body.file ?? null;
    this.offset = body.offset ?? null;
    this.path = path;
  }
}

export const fetchSessions = (signal) => getJson(apiUrl("sessions"), signal);
/** One session at a glance: which tools have something to show, what its devices have. */
export const fetchSession = (session, signal) => getJson(apiUrl("session", { session }), signal);
export const fetchDevices = (signal) => getJson(apiUrl("devices"), signal);
export const fetchServer = (signal) => getJson(apiUrl("server"), signal);
/** What the server reads for whoever waits; a request that nobody waits for. */
export const fetchWork = async () => (await askJson(apiUrl("work"))).body;

/** Ends all that is asked for: the server stops what it reads for nobody else. */
export function stopAll() {
  const message = "You stopped it. The server reads no further for this view.";
  stopAsking(new ApiError(0, { code: STOPPED, message }, ""));
}

/** `since` is the version of an earlier reply: then the reply may hold only what changed since (data/modules.js). */
export const fetchModules = (session, since, signal) => getJson(apiUrl("modules", { session, since }), signal);

/** What paints: totals, the curve in pixel columns, the largest buffers at the peak. */
export const fetchMemoryOverview = (where, signal) => getJson(memoryOverviewUrl(where), signal);

/** Who holds the memory; query: by, step, frameworks. */
export const fetchMemoryGroups = (where, query, signal) => getJson(memoryGroupsUrl(where, query), signal);

/** Which group each row belongs to, live at some step or other; query: by, frameworks. */
export const fetchMemoryGroupRows = (where, query, signal) => getJson(memoryGroupRowsUrl(where, query), signal);

/** All buffers and steps; the columns that it names in `delta` as differences. */
export function fetchMemoryView({ session, module, host, space }, signal) {
  return getJson(apiUrl("memory_view", { session, module, host, memory_space: space, delta: 1 }), signal);
}

export function fetchBuffer({ session, module, host, space, buffer }, signal) {
  const query = { session, module, host, memory_space: space, logical_buffer_id: buffer };
  return getJson(apiUrl("buffer", query), signal);
}

/** The program around a buffer, as text. */
export function fetchHlo({ session, module, host, space, buffer }, signal) {
  const query = { session, module, host, memory_space: space, logical_buffer_id: buffer };
  return getJson(apiUrl("buffer/hlo", query), signal);
}

/**
 * All hosts and memories of a session at a glance, as far as they are known by now; the host `first` is read first.
 * Asked again, it tells more, until it is `complete`.
 */
export const fetchMemoryProfile = (session, first, signal) =>
  getJson(memoryProfileUrl("", { session, ...(first && { first }) }), signal);

/**
 * What the allocator of one memory did. `where` is {session, host, memoryId}; the rest of each query is in docs/api.md.
 * @typedef {{session: string, host: string, memoryId: string}} Where
 */
const ofMemory = (resource) => (/** @type {Where} */ where, query, signal) =>
  getJson(memoryProfileUrl(resource, { ...memoryKeys(where), ...query }), signal);
const wholeMemory = (resource) => (/** @type {Where} */ where, signal) => ofMemory(resource)(where, {}, signal);

/** query: from_ps, to_ps, buckets */
export const fetchTimeline = ofMemory("timeline");
/** query: row, or from_ps, to_ps, offset, limit, only */
export const fetchEvents = ofMemory("events");
/** query: time_ps or row; neither: the peak */
export const fetchBreakdown = ofMemory("breakdown");
/** query: op */
export const fetchHeld = ofMemory("held");
export const fetchOps = wholeMemory("ops");
export const fetchSteps = wholeMemory("steps");
export const fetchPressure = wholeMemory("pressure");
export const fetchFindings = wholeMemory("findings");
/** All hosts of a session side by side, as far as they are read by now: asked again, it tells more. */
export const fetchAcross = (session, signal) => getJson(memoryProfileUrl("across", { session }), signal);
export const fetchModuleRuns = ({ session, host }, signal) =>
  getJson(memoryProfileUrl("modules", { session, host }), signal);

function memoryKeys({ session, host, memoryId }) {
  return { session, host, memory_id: memoryId };
}

/** What changed from one program to another; each is {session, module, host, space}. query: by, top, frameworks */
export function fetchDiff({ a, b }, query, signal) {
  const before = { session: a.session, module: a.module, host: a.host, memory_space: a.space };
  const after = { session_b: b.session, module_b: b.module, host_b: b.host };
  return getJson(apiUrl("diff", { ...before, ...after, ...query }), signal);
}

/** One program, or memory, over all sessions. query: tool, module or memory_id, memory_space, by, host, top */
export const fetchTrend = (query, signal) => getJson(apiUrl("trend", query), signal);

/** The device memory profiles of a session. */
export const fetchDeviceMemory = (session, signal) => getJson(apiUrl("device_memory", { session }), signal);
export const fetchDeviceMemoryAcross = (session, signal) =>
  getJson(apiUrl("device_memory/across", { session }), signal);
/** query: session, file, frames */
export const fetchDeviceMemoryProfile = (query, signal) =>
  getJson(apiUrl("device_memory/profile", query), signal);

/** A log with out-of-memory messages, joined to the programs of `session`. @param {string | Blob} log */
export function fetchExplanation(log, { prefer, capacity }, signal) {
  const url = apiUrl("explain", { prefer, capacity });
  return postText(url, log, signal);
}

/** query: capacity, ways, batch, sequence */
export function fetchAdvice({ session, module, host }, query, signal) {
  return getJson(apiUrl("advise", { session, module, host, ...query }), signal);
}

/** What a check against the compiler told last of a program. */
export const fetchCheck = ({ session, module }, signal) => getJson(apiUrl("check", { session, module }), signal);

/**
 * This view as one .html file. The server knows what a tool asks for; what was asked besides, for a step or a capacity,
 * is told to it. @param {string} query of the page's address @param {object} more that only the tool knows
 */
export async function fetchSavedPage(query, more) {
  const url = `${apiUrl("save")}${query}`;
  const response = await fetch(url, { method: "POST", body: JSON.stringify({ asked: [...answered], ...more }) }).catch(
    unreachable,
  );
  if (!response.ok) bodyOf({ ok: false, status: response.status, body: await response.json().catch(() => null) }, url);
  const [, name] = /filename="([^"]*)"/.exec(response.headers.get("Content-Disposition") ?? "") ?? ["", "hbmview.html"];
  return { name, blob: await response.blob() };
}

const MOST_REMEMBERED = 200;
const answered = new Set(); // the latest addresses, below the API's own, that gave an answer

async function getJson(url, signal) {
  const body = bodyOf((await takeEarly(url)) ?? (await reach(url, { signal })), url);
  remember(url.slice(apiUrl("").length));
  return body;
}

function remember(address) {
  answered.delete(address);
  answered.add(address);
  if (answered.size > MOST_REMEMBERED) answered.delete(answered.values().next().value);
}

async function postText(url, text, signal) {
  const headers = { "Content-Type": "text/plain; charset=utf-8" };
  return bodyOf(await reach(url, { signal, method: "POST", body: text, headers }), url);
}

function bodyOf({ ok, status, body }, url) {
  if (ok && body) return body;
  throw new ApiError(status, body?.error ?? unknownError(status, body), url);
}

async function reach(url, options) {
  try {
    return await askJson(url, options);
  } catch (error) {
    if (error.name === "AbortError" || error instanceof ApiError) throw error;
    return unreachable();
  }
}

/** @returns {never} */
function unreachable() {
  const message = "The hbmview server does not answer. Is it still running?";
  throw new ApiError(0, { code: "unreachable", message }, "");
}

function unknownError(status, body) {
  const what = body === null ? "an answer that is not JSON" : "no reason";
  return { code: "unknown", message: `The server answered ${status} with ${what}.` };
}

/** Last one wins: starting a new request aborts the one before. */
export function createLatest() {
  let controller = null;
  return {
    async run(request) {
      controller?.abort();
      const mine = new AbortController();
      controller = mine;
      const value = await request(mine.signal);
      if (mine.signal.aborted) throw new DOMException("superseded", "AbortError");
      return value;
    },
    stop() {
      controller?.abort();
    },
  };
}
