// @ts-check
// What a frame is and holds, beside the mouse (or the frame that the arrow keys are on).
import { el } from "../../../base/dom.js";
import { formatPercent, groupDigits } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { nodeName, nodeSource } from "../data/model.js";

const CARD_WIDTH = 340;

export function createHoverCard(state) {
  const node = el("div", { class: "frame-card", hidden: true });
  let shown = null;

  function show(at, place) {
    node.hidden = at === null;
    if (at === null) {
      shown = null;
      return;
    }
    const { unit, choice } = state.get();
    const key = `${at} ${unit} ${choice.kind} ${choice.device}`;
    if (key !== shown) node.replaceChildren(...content(state, at));
    shown = key;
    const room = Math.max(0, (node.parentElement?.clientWidth ?? CARD_WIDTH) - CARD_WIDTH);
    node.style.left = `${Math.min(room, Math.max(0, place.x0 + Math.min(24, (place.x1 - place.x0) / 2)))}px`;
    node.style.top = `${place.y + 3}px`;
  }

  return { node, show };
}

function content(state, at) {
  const { model } = state;
  const { figures, unit } = state.get();
  const source = nodeSource(model, at);
  return [
    el("strong", {}, nodeName(model, at)),
    source ? el("div", { class: "mono frame-source" }, source) : null,
    el(
      "dl",
      { class: "frame-figures" },
      ...row("total", figures.totalBytes, figures.totalCount, at, unit),
      ...row("itself", figures.selfBytes, figures.selfCount, at, unit),
    ),
  ].filter((part) => part !== null);

  function row(label, bytes, counts, index, mode) {
    const whole = figures.totalBytes[0];
    return [
      el("dt", {}, label),
      el(
        "dd",
        {},
        sizeFigure(bytes[index], mode),
        el("span", { class: "share" }, whole > 0 ? ` ${formatPercent(bytes[index] / whole)}` : ""),
        el("span", { class: "unit" }, `  ${groupDigits(counts[index])} ×`),
      ),
    ];
  }
}
