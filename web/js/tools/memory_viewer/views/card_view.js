// @ts-check
// Everything about one buffer: the one under the mouse, else the pinned one. What the view already holds shows at once;
// padding per dimension and the stack follow from the server.
import { button, el } from "../../../base/dom.js";
import { copyButton } from "../../../base/clipboard.js";
import { cardHead, createDetailsCard } from "../../../base/details_card.js";
import { formatSize } from "../../../base/format.js";
import { holesWords, stepWords } from "../data/block_words.js";
import { factsOf } from "../data/card_facts.js";
import { nameOf } from "../data/model.js";
import { categoryOf } from "../data/categories.js";
import { sumOfHoles } from "../layout/holes.js";
import { openHlo } from "./hlo_dialog.js";
import { factNode, paddingTable, stackNode } from "./card_parts.js";

/** @param {(buffer: number, signal: AbortSignal) => Promise<any>} askHlo the program around a buffer */
export function createCard(state, details, askHlo) {
  const { model } = state;
  return createDetailsCard({
    className: "card",
    hint: "Hover over a bar for buffer details.",
    state,
    watches: ["hover", "pinned", "lastHover", "rows", "unit", "hoverStep"],
    details,
    row: state.cardRow,
    idOf: (row) => model.id[row],
    keyOf(row, found) {
      const { unit, pinned, hover } = state.get();
      return `${row} ${unit} ${found !== null} ${row === pinned} ${hover === null && pinned === null} ${freeOf(row)}`;
    },
    partsOf,
    isHeld: () => state.get().pinned !== null,
    letGo: state.actions.letGo,
  });

  function partsOf(row, found) {
    const { unit } = state.get();
    const facts = factsOf(model, row, found, freeOf(row));
    const list = (group) => el("dl", { class: "card-facts" }, ...group.map((fact) => factNode(fact, unit)));
    const origin = facts.origin.map((fact) => factNode(fact, unit));
    return [
      cardHead(
        `cat-${categoryOf(model.category[row]).key}`,
        nameOf(model, row),
        el("span", {}, el("span", { class: "card-line" }, inOneLine(row, facts)), subtitle(row)),
        pinButton(row),
        button("HLO", () => openHlo(nameOf(model, row), (signal) => askHlo(model.id[row], signal)), {
          class: "copy",
          id: "card-hlo",
          title: "the program around it: operands, users, its computation, as text to copy",
        }),
        copyButton(() => facts.text, { label: "copy all", title: "copy all facts of this buffer" }),
      ),
      list(facts.sizes),
      list(facts.places),
      el("div", { class: "card-shape" }, ...origin, paddingTable(found)),
      stackNode(found, facts.source),
    ];
  }

  /** What is free in the allocation that it lies in, at the step that is told about. */
  function freeOf(row) {
    const step = state.stepInFocus();
    const lane = state.holesAt(step).find((one) => one.lane.allocation === model.allocation[row]);
    return lane ? `${holesWords(sumOfHoles([lane]), state.get().unit, 1)}, ${stepWords(model, step, true)}` : "";
  }

  /** What the dock tells where it is one line. */
  function inOneLine(row, { source }) {
    return `${[formatSize(model.size[row], state.get().unit), source.place].filter(Boolean).join(", ")}; `;
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
}
