// @ts-check
/**
 * What the page shows, as a URL query, and back. Values are strings; each tool reads its own. XProf's addresses
 * (tool for tag, moduleName for module_name) open the same view. Pure.
 */

export const KEYS = [
  "run",
  "tag",
  "host",
  "module_name",
  "run_b",
  "module_b",
  "host_b",
  "memory_space",
  "memory_id",
  "of",
  "point",
  "file",
  "kind",
  "device",
  "frames",
  "measure",
  "step",
  "buffer",
  "by",
  "frameworks",
  "holder",
  "weight",
  "who",
  "who_sort",
  "opened",
  "zoom",
  "folded",
  "from",
  "to",
  "y",
  "idle",
  "at",
  "overlay",
  "panel",
  "filter",
  "sort",
  "group",
  "min",
  "unit",
  "capacity",
  "ways",
  "plan",
  "batch",
  "sequence",
];

const ALIASES = { tool: "tag", moduleName: "module_name", sessionId: "run" };

/** @returns {Record<string, string | null>} every key, null where the query does not have it */
export function parseQuery(search) {
  const query = new URLSearchParams(search);
  const out = Object.fromEntries(KEYS.map((key) => [key, query.get(key) || null]));
  for (const [alias, key] of Object.entries(ALIASES)) out[key] ??= query.get(alias) || null;
  return out;
}

/** The query of a state: keys in a fixed order, nothing that is null, never the token (the server keeps a cookie). */
export function formatQuery(params) {
  const parts = KEYS.filter((key) => params[key] !== null && params[key] !== undefined && params[key] !== "").map(
    (key) => `${key}=${encodeValue(String(params[key]))}`,
  );
  return parts.length ? `?${parts.join("&")}` : "";
}

/** Brackets, commas and slashes stay readable. */
function encodeValue(value) {
  return encodeURIComponent(value).replace(/%2C/g, ",").replace(/%2F/g, "/").replace(/%20/g, "+");
}

export const isOnThisMachine = ({ hostname }) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/**
 * What a link for others begins with. The server knows its best address; but where the page was reached by another one
 * (through a proxy, a tunnel), that one is proven, and only the token is the server's to tell.
 * @param {string[]} urls of the server, the best first @param {URL} root where the page stands
 */
export function baseOfLinks(urls, root) {
  const isItsOwn = isOnThisMachine(root) || urls.some((url) => new URL(url).host === root.host);
  const isDirect = root.pathname === "/" && isItsOwn;
  if (isDirect && urls.length > 0) return urls[0];
  const token = urls.length > 0 ? new URL(urls[0]).search : "";
  return root.origin + root.pathname + token;
}

/** The server's address (which may carry the token) with the page's state. */
export function linkFor(base, query) {
  if (query === "") return base;
  return base.includes("?") ? `${base}&${query.slice(1)}` : `${base}${query}`;
}
