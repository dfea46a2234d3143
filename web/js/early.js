// @ts-check
// Asks for what the address names, and for the tool's code, before the page is put together; api.js takes the answers
// over. The first module of main.js, and small on purpose.
import { findTool, TOOLS } from "./tools.js";

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

function ask(url) {
  if (early.has(url)) return null;
  const reply = fetch(url, { headers: { Accept: "application/json" } });
  early.set(url, reply);
  return reply;
}

/** What an early answer says; null when it failed, or was taken over already. */
async function look(reply) {
  const answer = await reply?.catch(() => null);
  return answer?.ok && !answer.bodyUsed ? answer.clone().json().catch(() => null) : null;
}

/** The one module that the page will open, as far as that is certain before its figures are known. */
async function moduleToOpen(address, modules) {
  const named = address.get("module_name") ?? address.get("moduleName");
  if (named) return named.includes("(") ? named : null; // without its program id: the list of modules decides
  const listed = (await look(modules))?.modules ?? [];
  return listed.length === 1 ? listed[0].name : null;
}

async function askAhead(address) {
  const tool = findTool(TOOLS, address.get("tag") ?? address.get("tool")) ?? TOOLS[0];
  tool.load().catch(() => null); // whoever mounts it says why
  const sessions = ask(apiUrl("sessions"));
  const session = address.get("run") ?? (await look(sessions))?.sessions?.[0]?.name;
  if (!session) return;
  if (tool.anywhere) return;
  if (tool.id === "memory_profile") return void ask(memoryProfileUrl("", { session }));
  const module = await moduleToOpen(address, ask(apiUrl("modules", { session })));
  if (!module) return;
  ask(memoryOverviewUrl({ session, module, host: address.get("host"), space: address.get("memory_space") }));
}

askAhead(new URLSearchParams(location.search)).finally(() => {
  isOver = true;
});
