// @ts-check
// Everything about one event: the one under the mouse, else the one at the chosen time.
import { button, el } from "../../../base/dom.js";
import { copyButton } from "../../../base/clipboard.js";
import { requestFrame } from "../../../base/frame.js";
import { groupDigits, plural } from "../../../base/format.js";
import { sizeFigure, swatch } from "../../../base/figures.js";
import { eventText, factsOf, kindOf } from "../data/event_facts.js";

export function createEventCard(state, memory, details, onStep) {
  const node = el("article", { class: "event-card" });
  let shown = "";

  function rowToShow() {
    return state.get().hover?.row ?? state.chosenRow();
  }

  function draw() {
    const row = rowToShow();
    if (row === null) return showNothing();
    const found = details.get(row);
    details.want(row, (arrived) => {
      if (arrived === rowToShow()) requestFrame(draw);
    });
    if (!found) return; // the event before stays until this one is here
    const key = `${row} ${state.get().unit} ${found.partner !== null} ${isChosen(row)}`;
    if (key === shown) return;
    shown = key;
    node.replaceChildren(...cardParts(found));
  }

  function showNothing() {
    shown = "";
    node.replaceChildren(el("p", { class: "note" }, "Hover over the graph for the event there."));
  }

  function isChosen(row) {
    return row === state.chosenRow();
  }

  function cardParts({ event, partner }) {
    return [
      el(
        "header",
        { class: "card-head" },
        swatch(event.isFree ? "mem-free" : "mem-heap"),
        el("h2", { class: "mono ellipsis", title: event.op }, event.op || "(no op name)"),
        el("span", { class: "card-sub" }, subtitle(event)),
        button("←", () => onStep(-1), { class: "quiet small", title: "the event before (←)" }),
        button("→", () => onStep(1), { class: "quiet small", title: "the event after (→)" }),
        copyButton(() => eventText(event, partner), { label: "copy all", title: "copy all facts of this event" }),
      ),
      ...factsOf(event, partner).map((facts) =>
        el("dl", { class: "card-facts" }, ...facts.map((fact) => factNode(fact, state.get().unit))),
      ),
    ];
  }

  function subtitle(event) {
    const place = event.row === state.peak.row ? ", the peak" : isChosen(event.row) ? ", chosen" : "";
    return `${kindOf(event)}, event ${groupDigits(event.row + 1)} of ${plural(memory.events, "event")}${place}`;
  }

  const stop = state.watch(["hover", "at", "row", "unit"], () => requestFrame(draw));
  return { node, start: draw, redraw: draw, dispose: stop };
}

/** @param {{label: string, bytes?: number | null, text?: string, title?: string}} fact @param {string} unit */
function factNode({ label, bytes, text, title }, unit) {
  const value = bytes === undefined ? text || "not told" : bytes === null ? "not told" : sizeFigure(bytes, unit);
  return el(
    "div",
    { class: "fact", title: title ?? null },
    el("dt", {}, label),
    el("dd", { class: "ellipsis", title: typeof value === "string" ? value : null }, value),
  );
}
