// @ts-check
// The overview in XProf's words, with XProf's own figure beside ours where they differ.
import { el } from "../../../base/dom.js";
import { formatSize } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { xprofTag } from "../../../base/xprof_tag.js";
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
  return [
    el("dt", { data: { line: line.id } }, sizeFigure(line.bytes, unit)),
    el("dd", {}, line.label, line.tail ? ` ${line.tail}` : "", tagOf(line, unit)),
  ];
}

function tagOf({ xprofBytes, why }, unit) {
  return xprofBytes === undefined ? null : xprofTag(formatSize(xprofBytes, unit), why, `${xprofBytes} bytes`);
}
