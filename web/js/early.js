// @ts-check
// Answers that were asked for before the page is put together (ask_ahead.js), until api.js takes them over; and the
// addresses of the API, which both must write alike.

/** Where the page stands on its server: "/", or what a proxy puts before it. This module is one folder below. */
const ROOT = new URL("../", import.meta.url).pathname;

/** What is asked for, and null for what the page has taken over or asks for itself. @type {Map<string, any>} */
const early = new Map();
let isOver = false;

/** The early answer to `url`, once; null when it was not asked for, or failed: then ask again. */
export async function takeEarly(url) {
  const reply = early.get(url);
  if (isOver) early.delete(url);
  else early.set(url, null);
  return (await reply?.catch(() => null)) ?? null;
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

export function memoryOverviewUrl({ session, module, host, space }) {
  return apiUrl("memory_view/overview", { session, module, host, memory_space: space });
}

/** `resource` is "" for the overview of a session, or what is asked of one memory: "timeline", "breakdown", ... */
export function memoryProfileUrl(resource, query) {
  return apiUrl(resource ? `memory_profile/${resource}` : "memory_profile", query);
}

/** The reply to come; null for what was asked for already. */
export function askEarly(url) {
  if (early.has(url)) return null;
  const reply = fetch(url, { headers: { Accept: "application/json" } });
  early.set(url, reply);
  return reply;
}

/** Nothing more is asked for early. */
export function endEarly() {
  isOver = true;
}
