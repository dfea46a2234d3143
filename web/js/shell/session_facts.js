// @ts-check
/**
 * What a list of sessions tells of each: how large its files are, what there is in it for the tools, its highest peak.
 * That is read from its files, so it is asked for one session after the other, only for those in sight, and kept.
 * @typedef {{bytes: number | null, holds: string[], peak: number | null, isBroken: boolean}} Facts
 */
import { plural } from "../base/format.js";

const LOOK_AGAIN_MS = 250;
const LOOKS = 8; // at peaks that are still being computed
const BROKEN = { bytes: 0, holds: [], peak: null, isBroken: true };

/**
 * @param {(session: string) => Promise<import("./session_contents.js").Contents | null>} look
 * @param {(session: string, signal: AbortSignal) => Promise<any>} askModules of a session that has some
 */
export function createSessionFacts(look, askModules) {
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
      known.set(name, BROKEN);
    }
    onNews();
    askNext();
  }

  async function lookAt(name, signal) {
    const contents = await look(name);
    if (contents === null) throw new Error(name);
    known.set(name, factsOf(contents, []));
    for (let tries = 0; contents.programs > 0 && tries < LOOKS; tries += 1) {
      const { modules, complete } = await askModules(name, signal);
      known.set(name, factsOf(contents, modules));
      if (complete) return;
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

  /** They have changed. @param {string[]} names */
  function forget(names) {
    for (const name of names) known.delete(name);
  }

  return { get: (name) => known.get(name) ?? null, want, stop, forget };
}

/**
 * @param {import("./session_contents.js").Contents} contents @param {any[]} modules those of which figures are known
 * @returns {Facts}
 */
export function factsOf(contents, modules) {
  const ready = modules.filter((one) => one.state === "ready");
  const peaks = ready.flatMap((one) => one.memory_spaces.map((space) => space.peak_bytes));
  return {
    bytes: contents.size_bytes,
    holds: thingsIn(contents),
    peak: peaks.length ? Math.max(...peaks) : null,
    isBroken: contents.files > 0 && contents.unreadable_files === contents.files,
  };
}

/** What the tools have to show, in their order. */
function thingsIn({ programs, tools }) {
  return [
    programs > 0 ? plural(programs, "program") : "",
    tools.includes("memory_profile") ? "allocator events" : "",
    tools.includes("device_memory") ? "device memory profile" : "",
  ].filter(Boolean);
}
