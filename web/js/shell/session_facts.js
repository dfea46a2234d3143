// @ts-check
/**
 * What a list of sessions tells of each: how large its files are, how many programs it holds, its highest peak. That is
 * read from its files, so it is asked for one session after the other, only for those in sight, and kept.
 * @typedef {{bytes: number, programs: number, peak: number | null, isBroken: boolean}} Facts
 */

const LOOK_AGAIN_MS = 250;
const LOOKS = 8; // at peaks that are still being computed

/** @param {(session: string, signal: AbortSignal) => Promise<any>} ask the modules of a session */
export function createSessionFacts(ask) {
  /** @type {Map<string, Facts>} */
  const known = new Map();
  let queue = [];
  let controller = new AbortController();
  let isAsking = false;
  let onNews = () => {};

  /** These, in this order; what was wanted before is not any more. @param {string[]} names @param {() => void} news */
  function want(names, news) {
    onNews = news;
    queue = names.filter((name) => !known.has(name));
    if (!isAsking) askNext();
  }

  async function askNext() {
    const name = queue.shift();
    isAsking = name !== undefined;
    if (name === undefined) return;
    try {
      await lookAt(name, controller.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      known.set(name, { bytes: 0, programs: 0, peak: null, isBroken: true });
    }
    onNews();
    askNext();
  }

  async function lookAt(name, signal) {
    for (let look = 0; look < LOOKS; look += 1) {
      const reply = await ask(name, signal);
      known.set(name, factsOf(reply));
      if (reply.complete) return;
      onNews();
      await new Promise((resolve) => window.setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  function stop() {
    queue = [];
    controller.abort();
    controller = new AbortController();
    isAsking = false;
  }

  return { get: (name) => known.get(name) ?? null, want, stop };
}

/** @returns {Facts} of a reply about all modules of a session */
export function factsOf({ modules, hosts }) {
  const ready = modules.filter((one) => one.state === "ready");
  const peaks = ready.flatMap((one) => one.memory_spaces.map((space) => space.peak_bytes));
  return {
    bytes: hosts.reduce((sum, host) => sum + (host.size_bytes ?? 0), 0),
    programs: modules.length,
    peak: peaks.length ? Math.max(...peaks) : null,
    isBroken: hosts.length > 0 && hosts.every((host) => host.error),
  };
}
