// @ts-check
// Asks for what the address names while the page's other modules are still on their way; api.js takes the answers over.
// Loaded beside main.js, before it, and small on purpose.

/** @type {Map<string, Promise<Response>>} */
const early = new Map();

/** The early answer to `url`, once; null when it was not asked for, or failed: then ask again. */
export async function takeEarly(url) {
  const reply = early.get(url);
  early.delete(url);
  return (await reply?.catch(() => null)) ?? null;
}

/** Keys without a value are left out. */
export function apiUrl(path, query = {}) {
  const search = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== "") search.set(key, String(value));
  }
  const text = search.toString();
  return text ? `${path}?${text}` : path;
}

export function memoryViewUrl({ session, module, host, space }) {
  return apiUrl("/api/v1/memory_view", { session, module, host, memory_space: space });
}

function ask(url) {
  early.set(url, fetch(url, { headers: { Accept: "application/json" } }));
}

function askForAddress(address) {
  const [session, module] = [address.get("run"), address.get("module_name") ?? address.get("moduleName")];
  ask(apiUrl("/api/v1/sessions"));
  if (!session) return;
  ask(apiUrl("/api/v1/modules", { session }));
  if (!module?.includes("(")) return; // without its program id: the list of modules has to come first
  ask(memoryViewUrl({ session, module, host: address.get("host"), space: address.get("memory_space") }));
}

askForAddress(new URLSearchParams(location.search));
