// @ts-check
// Everything about one buffer: the one under the mouse, else the pinned one. What the view already holds shows at once;
// padding per dimension and the stack follow from the server.
import { button, el } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { copyButton } from "../../../base/clipboard.js";
import { requestFrame } from "../../../base/frame.js";
import { factsOf } from "../data/card_facts.js";
import { nameOf } from "../data/model.js";
import { categoryOf } from "../data/categories.js";
import { factNode, paddingTable, stackNode } from "./card_parts.js";

export function createCard(state, details) {
  const { model } = state;
  const node = el("article", { class: "card" });
  let shown = null;

  function draw() {
    if (!node.isConnected) return; // a frame that was asked for before the rows got other numbers
    const row = state.cardRow();
    if (row === null) return showNothing();
    const extra = details.get(model.id[row]);
    const { unit, pinned, hover } = state.get();
    const key = `${row} ${unit} ${extra !== null} ${row === pinned} ${hover === null && pinned === null}`;
    if (key === shown) return;
    shown = key;
    node.replaceChildren(...cardParts(row, extra));
    if (!extra)
      details.want(model.id[row], (id) => {
        if (id === model.id[state.cardRow() ?? -1]) requestFrame(draw);
      });
  }

  function showNothing() {
    shown = null;
    node.replaceChildren(el("p", { class: "note" }, "Hover over a bar for buffer details."));
  }

  function cardParts(row, extra) {
    const facts = factsOf(model, row, extra?.details ?? null);
    const { unit } = state.get();
    return [
      el(
        "header",
        { class: "card-head" },
        swatch(`cat-${categoryOf(model.category[row]).key}`),
        el("h2", { class: "mono ellipsis", title: nameOf(model, row) }, nameOf(model, row)),
        el("span", { class: "card-sub" }, subtitle(row)),
        pinButton(row),
        copyButton(() => facts.text, { label: "copy all", title: "copy all facts of this buffer" }),
      ),
      el("dl", { class: "card-facts" }, ...facts.sizes.map((fact) => factNode(fact, unit))),
      el("dl", { class: "card-facts" }, ...facts.places.map((fact) => factNode(fact, unit))),
      el(
        "div",
        { class: "card-shape" },
        ...facts.origin.map((fact) => factNode(fact, unit)),
        paddingTable(extra?.details ?? null),
      ),
      stackNode(extra, facts.source),
    ];
  }

  function subtitle(row) {
    const opcode = model.strings[model.opcode[row]];
    const { hover, pinned, lastHover } = state.get();
    const standing =
      row === hover
        ? ""
        : row === pinned
          ? "pinned"
          : row === lastHover
            ? ""
            : "largest live buffer; hover over any other";
    return [opcode ? `${opcode} operation` : "", standing].filter(Boolean).join(", ");
  }

  function pinButton(row) {
    const isPinned = row === state.get().pinned;
    return button(isPinned ? "unpin" : "pin", () => state.actions.pinRow(row), {
      class: "copy",
      id: "card-pin",
      "aria-pressed": String(isPinned),
    });
  }

  const stop = state.watch(["hover", "pinned", "lastHover", "rows", "unit"], () => requestFrame(draw));
  return { node, start: draw, redraw: draw, dispose: stop };
}
