// @ts-check
// The pieces of the details card.
import { el } from "../../../base/dom.js";
import { copyButton } from "../../../base/clipboard.js";
import { exactFigure, sizeFigure } from "../../../base/figures.js";
import { formatPercent, groupDigits } from "../../../base/format.js";
import { plainTable } from "../../../base/plain_table.js";
import { framePlace } from "../../../base/editor_url.js";
import { placeLink, sourceLink } from "../../../base/source_link.js";
import { errorLine } from "../../../shell/messages.js";

/** A label, its value, and a button to copy it. */
export function factNode(fact, unit) {
  return el(
    "div",
    { class: fact.mono || fact.about ? "fact wide" : "fact" },
    el("dt", {}, fact.label),
    el(
      "dd",
      { class: fact.mono ? "mono" : null, title: fact.title ?? null },
      valueNode(fact, unit),
      fact.about ? el("span", { class: "about" }, ", ", fact.about) : null,
      fact.copy ? copyButton(() => fact.copy, { title: `copy ${fact.label.toLowerCase()}` }) : null,
    ),
  );
}

function valueNode(fact, unit) {
  if (fact.node) return fact.node;
  if (fact.bytes === undefined) return el("span", {}, fact.text);
  const size = fact.exact ? exactFigure(fact.bytes) : sizeFigure(fact.bytes, unit);
  if (size.classList.contains("exact")) return size;
  return el("span", {}, size, el("span", { class: "bytes" }, " ", exactFigure(fact.bytes)));
}

/** Which dimension is padded, and by how much. */
export function paddingTable(details) {
  if (!details) return el("p", { class: "note reading" }, "reading padding and stack …");
  if (!details.dimensions?.length) return null;
  const options = { class: "dimensions", "aria-label": "padding per dimension" };
  return plainTable(options, [["Dim"], ["Size"], ["Padded"], ["Tile"], [""]], details.dimensions.map(dimensionRow));
}

function dimensionRow({ dimension, size, padded, tile }) {
  const isPadded = padded > size;
  const more = isPadded ? `+${formatPercent(padded / size - 1, padded < 1.1 * size ? 2 : 0)}` : "";
  const cells = [String(dimension), groupDigits(size), groupDigits(padded), tile > 1 ? String(tile) : "", more];
  return el("tr", { class: isPadded ? "padded" : null }, ...cells.map((text) => el("td", {}, text)));
}

function frameItem(frame) {
  const { place, rest } = framePlace(frame);
  return el("li", {}, place ? placeLink(place) : null, rest);
}

export function stackNode(found, source) {
  const node = el("div", { class: "card-stack" });
  if (found?.error) node.append(errorLine(found.error));
  if (source.place) {
    const link = sourceLink(source.place);
    const fact = { label: "Source", node: link, copy: source.place, about: source.from, mono: true };
    node.append(factNode(fact, "auto"));
  }
  const stack = found?.stack ?? [];
  if (stack.length === 0) return node;
  const frames = el(
    "ol",
    { class: "stack mono", tabindex: 0, "aria-label": "source stack" },
    ...stack.map(frameItem),
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
