// @ts-check
// A histogram as a table: a row a bucket, a bar for how many and one for how many bytes.
import { el, setText } from "../../../../base/dom.js";
import { sizeFigure } from "../../../../base/figures.js";
import { groupDigits, pickColumnUnit } from "../../../../base/format.js";

export function createHistogram(title, what) {
  const body = el("tbody");
  const note = el("p", { class: "note" });
  const head = el(
    "tr",
    {},
    el("th", { scope: "col" }, title),
    el("th", { scope: "col", colspan: 2 }, "Allocations"),
    el("th", { scope: "col", colspan: 2 }, "Bytes"),
  );
  const widths = ["label", "bar", "count", "bar", "size"].map((kind) => el("col", { class: `width-${kind}` }));
  const table = el(
    "table",
    { class: "histogram", "aria-label": `${title}: ${what}` },
    el("colgroup", {}, ...widths),
    el("thead", {}, head),
    body,
  );
  const node = el("div", { class: "histogram-block", title: what }, table, note);

  function show(bars, edge, unit) {
    node.hidden = bars.length === 0;
    const column = pickColumnUnit(Math.max(0, ...bars.map((bar) => bar.bytes)), unit);
    body.replaceChildren(...bars.map((bar) => rowNode(bar, edge, column)));
  }

  return { node, show, say: (text) => setText(note, text) };
}

function rowNode(bar, edge, column) {
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, `${roundText(edge(bar.from))} to ${roundText(edge(bar.to))}`),
    el("td", { class: "bar-cell" }, barNode(bar.countShare, "count")),
    el("td", { class: "kind-count" }, groupDigits(bar.count)),
    el("td", { class: "bar-cell" }, barNode(bar.bytesShare, "bytes")),
    el("td", { class: "kind-size" }, sizeFigure(bar.bytes, "auto", column)),
  );
}

/** Edges are round: "1.00 KiB" is 1 KiB. */
function roundText(text) {
  return text.replace(/\.0+(?=\D)/, "");
}

function barNode(share, kind) {
  const node = el("span", { class: `bar ${kind}`, "aria-hidden": "true" });
  node.style.width = share > 0 ? `max(1px, ${100 * share}%)` : "0";
  return node;
}
