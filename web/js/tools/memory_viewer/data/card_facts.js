// @ts-check
/**
 * The facts of the details card, in groups, and all of them as text for copying. `details` is null until the server's
 * answer is there. Pure.
 * @typedef {{label: string, bytes?: number, text?: string, copy?: string, title?: string, mono?: boolean,
 *            exact?: boolean}} Fact
 */
import { formatSize, groupDigits } from "../../../base/format.js";
import { TEMPORARY, categoryOf } from "./categories.js";
import { instructionOf, nameOf, paddingOf } from "./model.js";
import { expansionOf } from "./table_rows.js";

export function factsOf(model, row, details) {
  const groups = {
    sizes: sizeFacts(model, row),
    places: placeFacts(model, row, details),
    origin: originFacts(model, row),
  };
  const source = details?.source || model.strings[model.source[row]];
  return { ...groups, source, text: asText(model, row, groups, source, details) };
}

function sizeFacts(model, row) {
  const unpadded = model.unpadded[row];
  const expansion = expansionOf(model, row);
  /** @type {Fact[]} */
  const facts = [{ label: "Size", bytes: model.size[row], copy: String(model.size[row]) }];
  if (unpadded >= 0) facts.push({ label: "Unpadded Size", bytes: unpadded, copy: String(unpadded) });
  if (paddingOf(model, row) > 0)
    facts.push({
      label: "Extra memory due to padding",
      bytes: paddingOf(model, row),
      copy: String(paddingOf(model, row)),
    });
  if (expansion !== null)
    facts.push({
      label: "Expansion",
      text: `${expansion.toFixed(expansion < 10 ? 2 : 1)} X`,
      title: "size / unpadded size",
    });
  return facts;
}

function placeFacts(model, row, details) {
  /** @type {Fact[]} */
  const facts = [
    {
      label: "Allocation Type",
      text: categoryOf(model.category[row]).label,
      title: categoryOf(model.category[row]).title,
    },
  ];
  facts.push({ label: "Lifetime", ...lifetime(model, row) });
  facts.push({ label: "Allocation", text: allocationText(model, row, details) });
  facts.push({
    label: "Offset",
    bytes: model.offset[row],
    exact: true,
    copy: String(model.offset[row]),
    title: `0x${model.offset[row].toString(16)}`,
  });
  facts.push({ label: "Buffer ID", text: String(model.id[row]), copy: String(model.id[row]) });
  if (details?.shares_with?.length)
    facts.push({
      label: "Shares with",
      text: details.shares_with.map((one) => one.instruction).join(", "),
      mono: true,
    });
  return facts;
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

/** @returns {Fact[]} */
function originFacts(model, row) {
  const shape = model.strings[model.shape[row]];
  const op = model.strings[model.opName[row]];
  return [
    shape ? { label: "Shape and minor-to-major order", text: shape, copy: shape, mono: true } : null,
    op ? { label: "Framework Op", text: op, copy: op, mono: true } : null,
  ].filter((fact) => fact !== null);
}

function asText(model, row, groups, source, details) {
  const lines = [nameOf(model, row), `${model.strings[model.opcode[row]]} operation`];
  for (const fact of [...groups.sizes, ...groups.places, ...groups.origin]) {
    lines.push(
      `${fact.label}: ${fact.bytes === undefined ? fact.text : `${fact.bytes} B (${formatSize(fact.bytes)})`}`,
    );
  }
  for (const one of details?.dimensions ?? []) {
    if (one.padded !== one.size)
      lines.push(`Dimension ${one.dimension}: ${one.size} padded to ${one.padded} (tile ${one.tile})`);
  }
  if (source) lines.push(`Source: ${source}`);
  if (details?.stack?.length) lines.push("Source Stack:", ...details.stack.map((frame) => `  ${frame}`));
  return `${lines.join("\n")}\n`;
}
