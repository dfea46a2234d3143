// @ts-check
// Asks for the session's modules until all their figures are there.
import { fetchModules } from "../../api.js";
import { mergeModules } from "./data/modules.js";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1500;
const PATIENCE_MS = 700;

export function createModuleFeed(session, progress, { onReply, onError }) {
  const controller = new AbortController();
  let startedMs = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let timer = 0;
  let reply = null; // all that was told so far

  async function ask(label) {
    try {
      const request = fetchModules(session, reply?.version, controller.signal);
      const told = await (label ? progress.during(label, request) : request);
      if (controller.signal.aborted) return;
      reply = mergeModules(reply, told);
      onReply(reply);
      if (!reply.complete) again();
    } catch (error) {
      if (error.name !== "AbortError") onError(error);
    }
  }

  function again() {
    timer = window.setTimeout(() => ask(null), pauseMs);
    pauseMs = Math.min(LONGEST_PAUSE_MS, pauseMs * 1.6);
  }

  return {
    start() {
      startedMs = performance.now();
      ask(`listing the programs of ${session}`);
    },
    stop() {
      clearTimeout(timer);
      controller.abort();
    },
    /** Waited long enough for the figures of all modules: go on with those that are there. */
    isPatienceOver: () => performance.now() - startedMs > PATIENCE_MS,
  };
}
