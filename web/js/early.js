// @ts-check
/**
 * Answers that were asked for before the page is put together (ask_ahead.js), until api.js takes them over; and the
 * addresses of the API, which both must write alike. An answer is read when it comes, so that who takes it over draws
 * at once.
 * @typedef {{ok: boolean, status: number, body: any}} Answer `body` is null where it is not JSON
 */

/** Where the page stands on its server: "/", or what a proxy puts before it. This module is one folder below. */
export const ROOT = new URL("../", import.meta.url).pathname.replace(/^\/+/, "/");

/**
 * What is asked for, and null for what the page has taken over or asks for itself.
 * @type {Map<string, Promise<Answer> | null>}
 */
const early = new Map();

/** The code of what was stopped by whoever waited for it. */
export const STOPPED = "stopped";

let isOver = false;

/** @type {((url: string, options: any) => Promise<Answer>) | null} */
let elsewhere = null;

/** From now on `answer` is asked instead of the server: a saved page has none. */
export function answerFrom(answer) {
  elsewhere = answer;
}

let stopping = new AbortController();
/** @type {Set<{url: string}>} */
const waiting = new Set();

/** The addresses that have no answer yet. */
export const waitedFor = () => [...waiting].map(({ url }) => url);

/** Ends them all, and with them what the server does for them: each fails with `why`. @param {Error} why */
export function stopAsking(why) {
  stopping.abort(why);
  stopping = new AbortController();
}

/** @returns {Promise<Answer>} */
export async function askJson(url, options = {}) {
  if (elsewhere) return elsewhere(url, options);
  const headers = { Accept: "application/json", ...options.headers };
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const mine = { url };
  waiting.add(mine);
  try {
    const response = await fetch(url, { ...options, headers, signal });
    return { ok: response.ok, status: response.status, body: await response.json().catch(notJson(signal)) };
  } finally {
    waiting.delete(mine);
  }
}

/** An answer that is no longer wanted may be cut in its middle. @param {AbortSignal} signal */
const notJson = (signal) => (error) => {
  if (signal.aborted) throw error;
  return null;
};

/**
 * The early answer to `url`, once; null when it was not asked for, or failed: then ask again. A refusal is not kept: a
 * session that was still being written then may be whole by now.
 */
export async function takeEarly(url) {
  const asked = early.get(url);
  if (isOver) early.delete(url);
  else early.set(url, null);
  const answer = await asked?.catch(orStopped);
  return answer?.ok ? answer : null;
}

function orStopped(error) {
  if (error.code === STOPPED) throw error;
  return null;
}

/** The address of a resource of the API ("modules"); keys without a value are left out. */
export function apiUrl(resource, query = {}) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return `${ROOT}api/v1/${resource}${text ? `?${text}` : ""}`;
}

/** What is new, as it happens. */
export const eventsUrl = () => apiUrl("events");

export function memoryOverviewUrl({ session, module, host, space }) {
  return apiUrl("memory_view/overview", { session, module, host, memory_space: space });
}

/** Who holds it at `step`, null for the peak. */
export function memoryGroupsUrl({ session, module, host, space }, { by, step, frameworks }) {
  return apiUrl("memory_view/groups", { session, module, host, memory_space: space, by, step, frameworks });
}

/** Which group each row belongs to, live at some step or other. */
export function memoryGroupRowsUrl({ session, module, host, space }, { by, frameworks }) {
  return apiUrl("memory_view/groups/rows", { session, module, host, memory_space: space, by, frameworks });
}

/** `resource` is "" for the overview of a session, or what is asked of one memory: "timeline", "breakdown", ... */
export function memoryProfileUrl(resource, query) {
  return apiUrl(resource ? `memory_profile/${resource}` : "memory_profile", query);
}

/** The answer to come; null for what was asked for already. */
export function askEarly(url) {
  if (early.has(url)) return null;
  const answer = askJson(url);
  answer.catch(() => null); // whoever takes it over hears of it
  early.set(url, answer);
  return answer;
}

/** Nothing more is asked for early. */
export function endEarly() {
  isOver = true;
}
