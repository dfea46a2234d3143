// @ts-check
/**
 * What the tool knows: the text, the server's answer, or why there is none. It outlives the tool's place on the page,
 * so that a look at the Memory Viewer and back finds all as it was. What a reload needs is in the address
 * (answer_link.js).
 *
 *     paste, drop, file, example ──> source ──ask──> reply | error
 *     prefer, capacity ──────────────────────┘
 */
import { createLatest, fetchExplanation } from "../../api.js";
import { formatSize } from "../../base/format.js";
import { createStore } from "../../base/store.js";
import { unpacked } from "./unpack.js";

export function createExplainState() {
  /** @type {{source: any, reply: any, error: any, link: string | null, isBusy: boolean, isEditing: boolean}} */
  const nothing = { source: null, reply: null, error: null, link: null, isBusy: false, isEditing: false };
  const store = createStore({ ...nothing, draft: "" });
  const latest = createLatest();
  let askedFor = "";

  /** @param {{prefer: string | null, capacity: number | null}} where */
  async function explain(source, where, progress) {
    askedFor = JSON.stringify(where);
    store.set({ source, isBusy: true, isEditing: false, draft: source.text ?? "" });
    try {
      const asked = latest.run(async (signal) => {
        const log = await unpacked(source);
        if (!signal.aborted) store.set({ source: log });
        return fetchExplanation(log.body, where, signal);
      });
      const reply = await progress.during(`explaining ${formatSize(source.sentBytes)} of text`, asked);
      store.set({ reply, error: null, link: null, isBusy: false });
    } catch (error) {
      if (error.name !== "AbortError") store.set({ reply: null, error, isBusy: false });
    }
  }

  /** Another session or capacity: the same text is asked about again. */
  function explainAgain(where, progress) {
    const { source } = store.get();
    if (source !== null && JSON.stringify(where) !== askedFor) explain(source, where, progress);
  }

  function clear() {
    latest.stop();
    store.set({ ...nothing, draft: "" });
  }

  return { get: store.get, set: store.set, watch: store.watch, explain, explainAgain, clear };
}
