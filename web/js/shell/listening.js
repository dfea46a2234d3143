// @ts-check
/**
 * Hears from the server when the list of sessions is another one (GET /api/v1/events), while the page is in sight: a
 * browser has few connections for all its pages of one server. Where nothing can be heard (too many listen, the server
 * has gone), it tries again by and by, and the page works as it does without.
 */
import { eventsUrl } from "../early.js";

const FIRST_PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60000;

/** @param {(version: string) => void} onVersion the list's version, at the beginning and when it is another one */
export function listen(onVersion) {
  /** @type {EventSource | null} */
  let source = null;
  let timer = 0;
  let pauseMs = FIRST_PAUSE_MS;

  function start() {
    clearTimeout(timer);
    source = new EventSource(eventsUrl());
    for (const name of ["hello", "reload", "sessions"]) source.addEventListener(name, hear);
    source.addEventListener("error", lookAtError);
  }

  function hear(event) {
    pauseMs = FIRST_PAUSE_MS;
    document.documentElement.dataset.live = "on";
    onVersion(JSON.parse(event.data).version);
  }

  /** The browser connects again by itself, but for a refusal. */
  function lookAtError() {
    delete document.documentElement.dataset.live;
    if (source?.readyState !== EventSource.CLOSED) return;
    stop();
    timer = window.setTimeout(start, pauseMs);
    pauseMs = Math.min(LONGEST_PAUSE_MS, 2 * pauseMs);
  }

  function stop() {
    clearTimeout(timer);
    source?.close();
    source = null;
    delete document.documentElement.dataset.live;
  }

  function follow() {
    if (document.visibilityState === "hidden") stop();
    else if (source === null) start();
  }

  document.addEventListener("visibilitychange", follow);
  window.addEventListener("pagehide", stop);
  window.addEventListener("pageshow", follow);
  follow();
}
