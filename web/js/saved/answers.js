// @ts-check
/**
 * What a saved page answers instead of a server: the replies that it carries, gzipped, as base64.
 *
 *     <script type="application/json" id="saved">   {"version", "address", "tools", "replies", "left_out", "log"}
 *     <script type="text/plain" class="saved">      the body of each of `replies`, in order
 */
import { findReply, partOf } from "./find_reply.js";

/** What is not in the page, by what was asked; the rest is `ELSE`. */
const NOT_HELD = {
  "memory_view/groups": "Of who holds the memory this saved page has the peak and what was shown when it was saved.",
  "memory_profile/breakdown": "This saved page has the breakdown of the peak and what was shown when it was saved.",
  "memory_profile/timeline": "This saved page has the whole curve in 10 000 columns, and no closer look.",
  diff: "This saved page compares these two programs, the one before with the one after.",
  trend: "This saved page follows this one program or memory over the sessions.",
  explain: "This saved page has the answer for this text and this capacity alone.",
  advise: "This saved page has the advice that was asked for when it was saved, not for these values.",
};
const ELSE = "This is a saved page, and this is not in it.";

/** What the page says of itself; null where it is served. */
export function readSaved() {
  const node = document.getElementById("saved");
  return node && JSON.parse(node.textContent ?? "null");
}

export function createAnswers({ replies, log = null }) {
  const bodies = document.querySelectorAll("script.saved");
  const whole = new Map(); // of replies that are asked for in parts

  async function bodyOf(index) {
    const packed = atob(bodies[index].textContent ?? "");
    const bytes = Uint8Array.from(packed, (c) => c.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(plain).json();
  }

  function wholeOf(index) {
    if (!whole.has(index)) whole.set(index, bodyOf(index));
    return whole.get(index);
  }

  /** @param {any} [options] of the request @returns {Promise<import("../early.js").Answer>} */
  return async function answer(address, options = {}) {
    const [resource, search = ""] = address.slice(address.lastIndexOf("api/v1/") + "api/v1/".length).split("?");
    const query = Object.fromEntries(new URLSearchParams(search));
    const index = findReply(replies, resource, query);
    if (index < 0 || (resource === "explain" && options.body !== log)) return notHeld(resource);
    const kept = replies[index];
    const isCut = kept.each || kept.resource.startsWith("memory_profile/");
    const body = isCut ? partOf(kept, await wholeOf(index), query) : await bodyOf(index);
    return body === null ? notHeld(resource) : { ok: kept.status === 200, status: kept.status, body };
  };
}

function notHeld(resource) {
  const message = `${NOT_HELD[resource] ?? ELSE} Open the profile itself with hbmview to see more.`;
  return { ok: false, status: 404, body: { error: { code: "not_saved", message } } };
}
