// @ts-check
/**
 * One panel: a head line, its content, and what it says in its place. While something new is on its way the old content
 * stays, so nothing flickers; only a wait that is felt is shown.
 */
import { createLatest } from "../../../../api.js";
import { button, el } from "../../../../base/dom.js";
import { inFrame, together } from "../../../../base/upkeep.js";
import { errorLine } from "../../../../shell/messages.js";

const FELT_MS = 150;

/**
 * @param {any} context see ../index.js
 * @param {{title: string, head?: any[], content: any[], label: string, fetch: (query: any, signal: AbortSignal) =>
 *          Promise<any>, query?: () => any, holds?: (reply: any) => boolean, show?: (reply: any) => void,
 *          arrange: () => void, watches: string[], stops: (() => void)[]}} options `title` is its name, the tab shows
 *     it; `label` says what it waits for; `query` what it asks now, `holds` that the reply answers that already; `show`
 *     takes a reply, then and when one of `watches` changed `arrange` draws
 */
export function createPanel(context, options) {
  const { title, head = [], content, label, fetch, query = () => ({}), holds = () => false, show, arrange } = options;
  const message = el("div", { class: "panel-message", role: "status", hidden: true });
  const body = el("div", { class: "panel-content", hidden: true }, ...content);
  const node = el(
    "section",
    { class: "profile-panel", "aria-label": title },
    el("div", { class: "chart-head panel-head", hidden: head.length === 0 }, ...head),
    message,
    body,
  );
  const latest = createLatest();
  let reply = null;
  let wanted = "";

  function showMessage(...parts) {
    message.replaceChildren(...parts);
    message.hidden = false;
    body.hidden = true;
  }

  function setBusy(isBusy) {
    node.setAttribute("aria-busy", String(isBusy));
    if (isBusy && body.hidden) showMessage(el("p", { class: "note" }, "Reading …"));
  }

  /** Asking again for what is there, or on its way, does nothing. */
  async function load() {
    if (reply && holds(reply)) return keep();
    const asked = query();
    const mine = JSON.stringify(asked);
    if (mine === wanted) return;
    wanted = mine;
    const timer = window.setTimeout(() => setBusy(true), FELT_MS);
    try {
      reply = await context.progress.during(
        label,
        latest.run((signal) => fetch(asked, signal)),
      );
      message.hidden = true;
      body.hidden = false;
      show?.(reply);
      arrange();
    } catch (error) {
      if (error.name !== "AbortError") showError(error);
    } finally {
      clearTimeout(timer);
      if (mine === wanted) setBusy(false);
    }
  }

  function showError(error) {
    wanted = "";
    showMessage(errorLine(error), button("Try again", load, { class: "small" }));
    if (!error.code) console.error(error);
  }

  /** What is shown is right: what may be on its way is not wanted any more. */
  function keep() {
    latest.stop();
    wanted = "";
    setBusy(false);
  }

  function update() {
    if (reply) arrange();
    else load();
  }

  const dispose = together(inFrame(context.state, options.watches, update), latest.stop, ...options.stops);
  queueMicrotask(load); // what it shows is made by then
  return { node, load, update, reply: () => reply, dispose };
}
