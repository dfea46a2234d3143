// @ts-check
// Asks for the session's modules until all their figures are there.
import { fetchModules } from "../../api.js";

const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1500;
const PATIENCE_MS = 700;

export function createModuleFeed(session, progress, { onReply, onError }) {
  const controller = new AbortController();
  let startedMs = 0;
  let pauseMs = FIRST_PAUSE_MS;
  let timer = 0;

  async function ask(label) {
    try {
      const request = fetchModules(session, controller.signal);
      const reply = await (label ? progress.during(label, request) : request);
      if (controller.signal.aborted) return;
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
