// @ts-check
// Keeps the address and the answer the same: an answer writes its text into the address, an address is explained.
import { isInFragment } from "../../base/address.js";
import { together } from "../../base/upkeep.js";
import { excerptOf } from "./data/excerpt.js";
import { sourceOfText } from "./data/source.js";
import { holdsText, packText, unpackText } from "./link_text.js";

/** While the tool is on the page. @param {(source: object) => void} explain */
export function createAnswerLink(state, explain) {
  let isOver = false;

  /** The answer's text, unless another answer came meanwhile. */
  async function write() {
    const { reply } = state.get();
    if (isInFragment()) return; // a saved page holds the text itself
    const link = reply === null ? null : await packText(await explainedText(state));
    if (isOver || state.get().reply !== reply) return;
    put(link ?? "");
    state.set({ link });
  }

  async function read() {
    const { hash } = location;
    if (!holdsText(hash) || hash === state.get().link) return;
    try {
      const text = await unpackText(hash);
      if (!isOver && location.hash === hash) explain(sourceOfText(text, "the link"));
    } catch {
      if (!isOver) state.set({ source: null, reply: null, error: damagedLink() });
    }
  }

  const onMove = () => read();
  window.addEventListener("hashchange", onMove);
  const stop = state.watch(["reply"], write);
  if (holdsText(location.hash)) read();
  else if (state.get().reply !== null) write();
  return {
    dispose: together(stop, () => {
      isOver = true;
      window.removeEventListener("hashchange", onMove);
    }),
  };
}

/** The lines that the answer is about: what a link or a file must hold so that the same answer comes again. */
export async function explainedText(state) {
  const { source, reply } = state.get();
  const log = typeof source.body === "string" ? source.body : await source.body.text();
  return excerptOf(log, reply.messages);
}

function put(hash) {
  if (location.hash !== hash) history.replaceState(null, "", `${location.pathname}${location.search}${hash}`);
}

function damagedLink() {
  const message = "The text in this link cannot be read: the address was cut off or changed. Ask for it again.";
  return Object.assign(new Error(message), { code: "bad_link" });
}
