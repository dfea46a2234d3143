// @ts-check
/**
 * The facts of the details card, in groups, and all of them as text for copying. `details` is null until the server's
 * answer is there. Pure.
 * @typedef {{label: string, bytes?: number, text?: string, copy?: string, title?: string, mono?: boolean,
 *            exact?: boolean, about?: string}} Fact `about`: said after it, quietly
 */
import { formatSize, groupDigits } from "../../../base/format.js";
import { TEMPORARY, categoryOf } from "./categories.js";
import { instructionOf, nameOf, paddingOf } from "./model.js";
import { fromWords, phaseOf, sourceOf } from "./origin_facts.js";
import { expansionOf } from "./table_rows.js";

/** @param {string} free what is free in its allocation at the step in sight; "" where that is not known */
export function factsOf(model, row, details, free = "") {
  const groups = {
    sizes: sizeFacts(model, row),
    places: [...placeFacts(model, row, details), ...(free ? [textFact("Free beside it", free)] : [])],
    origin: originFacts(model, row, details),
  };
  const source = { place: sourceOf(details, model.strings[model.source[row]]), from: fromWords(details?.source_from) };
  return { ...groups, source, text: asText(model, row, groups, source, details) };
}

/** @returns {Fact} */
const bytesFact = (label, bytes, more = {}) => ({ label, bytes, copy: String(bytes), ...more });
/** @returns {Fact} */
const textFact = (label, text, more = {}) => ({ label, text, ...more });

function sizeFacts(model, row) {
  const unpadded = model.unpadded[row];
  const padding = paddingOf(model, row);
  const expansion = expansionOf(model, row);
  const facts = [bytesFact("Size", model.size[row])];
  if (unpadded >= 0) facts.push(bytesFact("Unpadded Size", unpadded));
  if (padding > 0) facts.push(bytesFact("Extra memory due to padding", padding));
  if (expansion !== null) {
    const times = `${expansion.toFixed(expansion < 10 ? 2 : 1)} X`;
    facts.push(textFact("Expansion", times, { title: "size / unpadded size" }));
  }
  return facts;
}

function placeFacts(model, row, details) {
  const { label, title } = categoryOf(model.category[row]);
  const [offset, id] = [model.offset[row], String(model.id[row])];
  const facts = [
    textFact("Allocation Type", label, { title }),
    { label: "Lifetime", ...lifetime(model, row) },
    textFact("Allocation", allocationText(model, row, details)),
    bytesFact("Offset", offset, { exact: true, title: `0x${offset.toString(16)}` }),
    textFact("Buffer ID", id, { copy: id }),
  ];
  const shared = (details?.shares_with ?? []).map((one) => one.instruction);
  return shared.length === 0 ? facts : [...facts, textFact("Shares with", shared.join(", "), { mono: true })];
}

function lifetime(model, row) {
  if (model.category[row] !== TEMPORARY) return { text: "whole program" };
  const start = model.startStep[row],
    end = model.endStep[row];
  const names = [instructionOf(model, start), instructionOf(model, end)];
  return {
    text: `step ${groupDigits(start)} to ${groupDigits(end)}`,
    title: `allocated by ${names[0] || "?"}, freed by ${names[1] || "?"}`,
  };
}

function allocationText(model, row, details) {
  const parameter = details?.allocation?.parameter_number;
  const number = model.allocation[row] < 0 ? "none" : `#${model.allocation[row]}`;
  return parameter === null || parameter === undefined ? number : `${number} (parameter ${parameter})`;
}

function originFacts(model, row, details) {
  const shape = model.strings[model.shape[row]];
  const op = model.strings[model.opName[row]];
  const named = [
    ["Shape and minor-to-major order", shape],
    ["Framework Op", op],
    ["Argument", details?.argument],
  ];
  const facts = named
    .filter(([, text]) => text)
    .map(([label, text]) => textFact(label, text, { copy: text, mono: true }));
  const phase = phaseOf(details);
  return phase ? [textFact("Phase", phase.name, { about: phase.reason }), ...facts] : facts;
}

function asText(model, row, groups, source, details) {
  const lines = [nameOf(model, row), `${model.strings[model.opcode[row]]} operation`];
  for (const fact of [...groups.sizes, ...groups.places, ...groups.origin]) {
    lines.push(
      `${fact.label}: ${fact.bytes === undefined ? fact.text : `${fact.bytes} B (${formatSize(fact.bytes)})`}` +
        (fact.about ? ` (${fact.about})` : ""),
    );
  }
  for (const one of details?.dimensions ?? []) {
    if (one.padded !== one.size)
      lines.push(`Dimension ${one.dimension}: ${one.size} padded to ${one.padded} (tile ${one.tile})`);
  }
  if (source.place) lines.push(`Source: ${source.place}${source.from ? ` (${source.from})` : ""}`);
  if (details?.stack?.length) lines.push("Source Stack:", ...details.stack.map((frame) => `  ${frame}`));
  return `${lines.join("\n")}\n`;
}
