// @ts-check
// The first lines: by how much the peak and the total changed, and what no table tells.
import { el } from "../../../base/dom.js";
import { sizeFigure } from "../../../base/figures.js";
import { pickUnit } from "../../../base/format.js";
import { percentOf } from "../data/changes.js";
import { deltaFigure } from "./change_cells.js";

export function createVerdict(state, reply) {
  const node = el("div", { class: "headline compare-verdict", role: "status" });
  const findings = reply.findings.map(({ text }) => el("li", {}, text));
  const list = findings.length ? el("ul", { class: "findings" }, ...findings) : null;

  function show() {
    const { unit } = state.get();
    node.replaceChildren(
      figure("peak", reply.a.peak_bytes, reply.b.peak_bytes, unit),
      figure("total", reply.a.total_allocation_bytes, reply.b.total_allocation_bytes, unit),
    );
  }

  const dispose = state.watch(["unit"], show);
  show();
  return { node, list, dispose };
}

function figure(name, before, after, mode) {
  const delta = after - before;
  const change =
    delta === 0
      ? ["as before"]
      : [deltaFigure(delta, pickUnit(Math.abs(delta), mode)), ` (${percentOf(before, delta)})`];
  return el(
    "span",
    { class: `compare-${name}` },
    `${name} `,
    sizeFigure(before, mode),
    " → ",
    el("strong", {}, sizeFigure(after, mode)),
    ": ",
    el("strong", {}, ...change),
  );
}
