// @ts-check
// The pieces of the details card.
import { el } from "../../../base/dom.js";
import { copyButton } from "../../../base/clipboard.js";
import { exactFigure, sizeFigure } from "../../../base/figures.js";
import { formatPercent, groupDigits } from "../../../base/format.js";
import { errorSentence } from "../../../shell/messages.js";

/** A label, its value, and a button to copy it. */
export function factNode(fact, unit) {
  return el(
    "div",
    { class: fact.mono ? "fact wide" : "fact" },
    el("dt", {}, fact.label),
    el(
      "dd",
      { class: fact.mono ? "mono" : null, title: fact.title ?? null },
      valueNode(fact, unit),
      fact.copy ? copyButton(() => fact.copy, { title: `copy ${fact.label.toLowerCase()}` }) : null,
    ),
  );
}

function valueNode(fact, unit) {
  if (fact.bytes === undefined) return el("span", {}, fact.text);
  const size = fact.exact ? exactFigure(fact.bytes) : sizeFigure(fact.bytes, unit);
  if (size.classList.contains("exact")) return size;
  return el("span", {}, size, el("span", { class: "bytes" }, " ", exactFigure(fact.bytes)));
}

/** Which dimension is padded, and by how much. */
export function paddingTable(details) {
  if (!details) return el("p", { class: "note reading" }, "reading padding and stack …");
  if (!details.dimensions?.length) return null;
  const rows = details.dimensions.map((one) =>
    el(
      "tr",
      { class: one.padded > one.size ? "padded" : null },
      el("td", {}, String(one.dimension)),
      el("td", {}, groupDigits(one.size)),
      el("td", {}, groupDigits(one.padded)),
      el("td", {}, one.tile > 1 ? String(one.tile) : ""),
      el(
        "td",
        {},
        one.padded > one.size
          ? `+${formatPercent(one.padded / one.size - 1, one.padded < 1.1 * one.size ? 2 : 0)}`
          : "",
      ),
    ),
  );
  return el(
    "table",
    { class: "dimensions", "aria-label": "padding per dimension" },
    el(
      "thead",
      {},
      el("tr", {}, ...["Dim", "Size", "Padded", "Tile", ""].map((name) => el("th", { scope: "col" }, name))),
    ),
    el("tbody", {}, ...rows),
  );
}

export function stackNode(extra, source) {
  const node = el("div", { class: "card-stack" });
  if (extra?.error) node.append(el("p", { class: "error-line" }, errorSentence(extra.error)));
  if (source) node.append(factNode({ label: "Source", text: source, copy: source, mono: true }, "auto"));
  const stack = extra?.details?.stack ?? [];
  if (stack.length === 0) return node;
  const frames = el(
    "ol",
    { class: "stack mono", tabindex: 0, "aria-label": "source stack" },
    ...stack.map((frame) => el("li", {}, frame)),
  );
  node.append(
    el(
      "div",
      { class: "fact wide" },
      el(
        "dt",
        {},
        "Source Stack",
        copyButton(() => stack.join("\n"), { title: "copy source stack" }),
      ),
      el("dd", {}, frames),
    ),
  );
  return node;
}
