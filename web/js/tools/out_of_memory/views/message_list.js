// @ts-check
// The side panel: the messages that were found, to go to each.
import { el, setText } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { kindOf } from "../data/kinds.js";
import { wantedBytes } from "../data/facts.js";

export function createMessageList(state, params, reveal) {
  const title = el("h2", { class: "side-title" }, "Messages");
  const list = el("ol", { class: "spaces", "aria-label": "messages" });
  const node = el("section", { class: "side-section oom-side" }, el("div", { class: "side-head" }, title), list);

  function show() {
    const messages = state.get().reply?.messages ?? [];
    const mode = unitMode(params.get());
    title.hidden = messages.length === 0;
    setText(title, `Messages (${messages.length})`);
    list.replaceChildren(...messages.map((message, i) => rowOf(message, mode, () => reveal(i))));
  }

  const stops = [state.watch(["reply"], show), params.watch(["unit"], show)];
  show();
  return { node, dispose: () => stops.forEach((stop) => stop()) };
}

function rowOf(message, mode, onPick) {
  const bytes = wantedBytes(message);
  const name = message.module ?? kindOf(message).title;
  return el(
    "li",
    {},
    el(
      "button",
      { type: "button", class: "space", title: kindOf(message).title, on: { click: onPick } },
      el("span", { class: "ellipsis" }, name),
      bytes === null ? null : sizeFigure(bytes, mode),
    ),
  );
}
