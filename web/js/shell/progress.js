// @ts-check
// The thin line at the top: what is being read. It shows only when the answer takes longer than a glance; when it takes
// longer still, the server says how far it is, and a button ends the waiting, and the server's work with it.
import { button, el, setText } from "../base/dom.js";
import { longestWait, workText } from "./work_text.js";

const PATIENCE_MS = 100;
const LOOK_AFTER_MS = 300;
const LOOK_AGAIN_MS = 500;

/**
 * @param {HTMLElement} parent
 * @param {{look: () => Promise<any>, waitedFor: () => string[], stop: () => void} | null} server null: there is none
 */
export function createProgress(parent, server) {
  const text = el("span", { class: "progress-text" });
  const stop = button("Stop", () => server?.stop(), { class: "progress-stop", hidden: true, title: "Read no further" });
  const line = el(
    "div",
    { class: "progress", role: "status", hidden: true },
    el("div", { class: "progress-line" }),
    el("div", { class: "progress-said" }, text, stop),
  );
  parent.append(line);
  const running = new Map();
  let timer = 0;
  let lookTimer = 0;
  let told = ""; // by the server

  function refresh() {
    const labels = [...running.values()];
    line.hidden = labels.length === 0;
    setText(text, told || (labels.at(-1) ?? ""));
    if (!line.hidden) lookLater(LOOK_AFTER_MS - PATIENCE_MS);
    else lookNoMore();
  }

  function lookLater(afterMs) {
    if (server && !lookTimer) lookTimer = window.setTimeout(look, afterMs);
  }

  function lookNoMore() {
    clearTimeout(lookTimer);
    lookTimer = 0;
    told = "";
    stop.hidden = true;
  }

  async function look() {
    const mine = lookTimer;
    stop.hidden = false;
    const reply = await server?.look().catch(() => null);
    if (mine !== lookTimer) return;
    const row = reply && longestWait(reply.requests, server?.waitedFor() ?? []);
    told = row ? workText(row) : told;
    lookTimer = 0;
    setText(text, told || ([...running.values()].at(-1) ?? ""));
    lookLater(LOOK_AGAIN_MS);
  }

  /** Shows `label` while the promise is pending. */
  async function during(label, promise) {
    const key = Symbol(label);
    running.set(key, label);
    if (!timer)
      timer = window.setTimeout(() => {
        timer = 0;
        refresh();
      }, PATIENCE_MS);
    try {
      return await promise;
    } finally {
      running.delete(key);
      if (!timer) refresh();
    }
  }

  return { during };
}
