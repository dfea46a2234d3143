// @ts-check
// The overview in XProf's words, with XProf's own figure beside ours where they differ.
import { el } from "../../../base/dom.js";
import { pickUnit, sizeIn } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { overviewLines } from "../data/overview.js";

/** XProf's advice, word for word. */
export const ADVICE =
  "Modifying your model's architecture, batch size and data dimensions may help reduce the memory footprint.";

export function createOverview(state, view) {
  const lines = overviewLines(view);
  const rows = el("dl", { class: "overview" });
  const notes = (view.notes ?? []).map((note) => el("p", { class: "note" }, note));
  const node = el(
    "div",
    { class: "overview-block" },
    el("p", { class: "module-line" }, `Module Name: ${view.module}`),
    rows,
  );
  const below = el("div", { class: "notes" }, ...notes);

  function show() {
    const { unit } = state.get();
    rows.replaceChildren(...lines.flatMap((one) => lineNodes(one, unit)));
  }

  const stop = state.watch(["unit"], show);
  show();
  return { node, below, dispose: stop };
}

function lineNodes(line, unit) {
  const label =
    line.id === "peak"
      ? "Peak memory allocation"
      : line.id === "with-fragmentation"
        ? "(with fragmentation)"
        : line.label;
  return [
    el("dt", { data: { line: line.id } }, sizeFigure(line.bytes, unit, pickUnit(line.bytes, unit))),
    el("dd", {}, label, line.tail ? ` ${line.tail}` : "", xprofTag(line, unit)),
  ];
}

function xprofTag(line, unit) {
  if (line.xprofBytes === undefined) return null;
  return el(
    "span",
    {
      class: "xprof-tag",
      tabindex: 0,
      title: `XProf shows ${line.xprofBytes} bytes here. ${line.why}`,
      role: "note",
    },
    `XProf: ${sizeIn(line.xprofBytes, pickUnit(line.xprofBytes, unit))}`,
  );
}
