// @ts-check
// Below the input: the messages, or what the tool is for, or why nothing was found.
import { el } from "../../../base/dom.js";
import { plural } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { together } from "../../../base/upkeep.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { failed, nothingYet, notFound } from "./empty_states.js";
import { messageNode } from "./message_view.js";

export function createResults(state, params, actions) {
  const node = el("div", { class: "oom-results", "aria-live": "polite" });
  const kinds = new Map(); // which plan was chosen of which message: a redraw keeps it

  function show() {
    const { reply, error, isBusy } = state.get();
    node.setAttribute("aria-busy", String(isBusy));
    if (isBusy && reply === null && error === null) return;
    node.replaceChildren(...contentOf(state.get()));
    requestFrame(() => performance.mark("hbmview-painted"));
  }

  function contentOf({ reply, error, source }) {
    if (isNothing(error, reply)) return [notFound(source)];
    if (error) return [failed(error)];
    if (reply === null) kinds.clear();
    if (reply === null) return [nothingYet(actions.example)];
    const { follow } = actions;
    const more = reply.messages_left_out ?? 0;
    const unreadable = reply.unreadable ?? [];
    const { capacity } = params.get();
    const context = { mode: unitMode(params.get()), capacity, kinds, follow, isAllRead: unreadable.length === 0 };
    return [
      ...reply.messages.map((message, i) => messageNode(message, i, context)),
      ...(more > 0 ? [el("p", { class: "note" }, `${plural(more, "further message")} left out.`)] : []),
      ...unreadable.map(({ path, reason }) => el("p", { class: "note" }, `Not searched: ${path}: ${reason}`)),
    ];
  }

  function articles() {
    return /** @type {HTMLElement[]} */ ([...node.querySelectorAll("article")]);
  }

  function reveal(i) {
    const article = articles()[i];
    article?.scrollIntoView({ block: "start" });
    article?.focus({ preventScroll: true });
  }

  /** From the message that is read, to the next one. */
  function step(delta) {
    const all = articles();
    const at = all.findIndex((one) => one.contains(document.activeElement));
    reveal(Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + delta)));
  }

  const dispose = together(state.watch(["reply", "error", "isBusy"], show), params.watch(["unit"], show));
  show();
  return {
    reveal,
    step,
    wrap: (input) => el("div", { class: "workspace out-of-memory" }, input, node),
    dispose,
  };
}

/** The server's answer to a text without a message; a session that is not there is 404 too. */
function isNothing(error, reply) {
  if (error) return error.code === "not_found" && /no out-of-memory message/i.test(error.message);
  return reply !== null && reply.messages.length === 0;
}
