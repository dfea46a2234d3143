// @ts-check
// Everything about one event: the one under the mouse, else the one at the chosen time.
import { button, el } from "../../../base/dom.js";
import { copyButton } from "../../../base/clipboard.js";
import { cardHead, createDetailsCard } from "../../../base/details_card.js";
import { groupDigits, plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { errorLine } from "../../../shell/messages.js";
import { eventText, factsOf, kindOf } from "../data/event_facts.js";

export function createEventCard(state, memory, details, onStep) {
  return createDetailsCard({
    className: "card event-card",
    hint: "Hover over the graph for the event there.",
    state,
    watches: ["hover", "at", "row", "unit"],
    details,
    row: () => state.get().hover?.row ?? state.chosenRow(),
    keyOf: (row, found) => `${row} ${state.get().unit} ${partsKnown(found)} ${row === state.chosenRow()}`,
    partsOf,
    isHeld: () => state.get().at !== null,
    letGo: () => state.actions.choose(null),
  });

  /** The event before stays until this one is here. */
  function partsOf(_, found) {
    if (found?.error) return [errorLine(found.error)];
    if (!found?.event) return null;
    const { event, partner } = found;
    return [
      cardHead(
        event.is_free ? "mem-free" : "mem-heap",
        event.op || "(no op name)",
        subtitle(event),
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
    const place = event.row === state.peak.row ? ", the peak" : event.row === state.chosenRow() ? ", chosen" : "";
    return `${kindOf(event)}, event ${groupDigits(event.row + 1)} of ${plural(memory.events, "event")}${place}`;
  }
}

const partsKnown = (found) => found && [found.error, found.event, found.partner].map(Boolean).join();

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
