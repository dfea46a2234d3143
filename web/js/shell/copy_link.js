// @ts-check
// "copy link": an address a colleague can open, with everything that is on the screen in it, what a tool keeps behind
// the "#" too (an out-of-memory message).
import { fetchServer } from "../api.js";
import { ROOT } from "../early.js";
import { button, el, setText } from "../base/dom.js";
import { copyText } from "../base/clipboard.js";
import { baseOfLinks, isOnThisMachine, linkFor } from "../base/url_state.js";

const SHOWN_MS = 6000;

export function createCopyLink(params) {
  const said = el("span", { class: "said", role: "status" });
  let timer = 0;

  function say(text) {
    setText(said, text);
    clearTimeout(timer);
    timer = window.setTimeout(() => setText(said, ""), SHOWN_MS);
  }

  async function copy() {
    try {
      const server = await fetchServer();
      const base = baseOfLinks(server.urls ?? [], new URL(ROOT, location.href));
      const link = linkFor(base, params.query()) + location.hash;
      const done = await copyText(link);
      said.title = link;
      say(done ? copiedText(server, base) : `Not allowed to copy. The link: ${link}`);
    } catch (error) {
      say(error.message);
    }
  }

  return {
    node: el("span", { class: "copy-link" }, said, button("Copy link", copy, { class: "quiet", id: "copy-link" })),
  };
}

function copiedText(server, base) {
  return server.shared || !isOnThisMachine(new URL(base))
    ? "Link copied"
    : "Link copied; it works on this machine only (start with --bind_all to share)";
}
