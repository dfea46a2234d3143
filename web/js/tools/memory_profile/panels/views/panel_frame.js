// @ts-check
/**
 * One panel: a head line, its content, and what it says in its place. While something new is on its way the old content
 * stays, so nothing flickers; only a wait that is felt is shown.
 */
import { createLatest } from "../../../../api.js";
import { button, el } from "../../../../base/dom.js";
import { errorSentence } from "../../../../shell/messages.js";

const FELT_MS = 150;

/** @param {string} title its name; on the page the tab shows it @param {any[]} head the line above the content
 * @param {any[]} content */
export function createPanelFrame(title, head, content) {
  const message = el("div", { class: "panel-message", role: "status", hidden: true });
  const body = el("div", { class: "panel-content", hidden: true }, ...content);
  const node = el(
    "section",
    { class: "profile-panel", "aria-label": title },
    el("div", { class: "chart-head panel-head", hidden: head.length === 0 }, ...head),
    message,
    body,
  );

  function showContent() {
    message.hidden = true;
    body.hidden = false;
  }

  function showMessage(...parts) {
    message.replaceChildren(...parts);
    message.hidden = false;
    body.hidden = true;
  }

  function setBusy(isBusy) {
    node.setAttribute("aria-busy", String(isBusy));
    if (isBusy && body.hidden) showMessage(el("p", { class: "note" }, "Reading …"));
  }

  return { node, showContent, showMessage, setBusy };
}

/** Loads what a frame shows. Asking again for what is there, or on its way, does nothing. */
export function createLoader(frame, context) {
  const latest = createLatest();
  let wanted = null;

  async function load(key, label, request, show) {
    const mine = JSON.stringify([context.where, key]);
    if (mine === wanted) return;
    wanted = mine;
    const timer = window.setTimeout(() => frame.setBusy(true), FELT_MS);
    try {
      const reply = await context.progress.during(label, latest.run(request));
      frame.showContent();
      show(reply);
    } catch (error) {
      if (error.name !== "AbortError") showError(error, () => load(key, label, request, show));
    } finally {
      clearTimeout(timer);
      if (mine === wanted) frame.setBusy(false);
    }
  }

  function showError(error, again) {
    wanted = null;
    frame.showMessage(
      el("p", { class: "error-line" }, error.code ? errorSentence(error) : String(error)),
      button("Try again", again, { class: "small" }),
    );
    if (!error.code) console.error(error);
  }

  /** What is shown is right: what may be on its way is not wanted any more. */
  function keep() {
    latest.stop();
    wanted = null;
    frame.setBusy(false);
  }

  return { load, keep, stop: () => latest.stop() };
}
