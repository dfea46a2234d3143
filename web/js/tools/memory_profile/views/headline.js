// @ts-check
// The first line: which memory, how full it was at its peak, and when.
import { button, el } from "../../../base/dom.js";
import { formatPercent, groupDigits } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { formatMs } from "../../../base/time_text.js";

export function createHeadline(state, memory, toPeak) {
  const node = el("div", { class: "headline-figures" });

  function show() {
    const { unit } = state.get();
    if (memory.peak_bytes === null) return node.replaceChildren("No event told how much memory is in use.");
    const { peak_bytes: peak, capacity_bytes: capacity, peak_step: step } = memory;
    const share = peak >= capacity / 1000 ? ` (${formatPercent(peak / capacity)})` : "";
    const of = capacity ? [" of ", sizeFigure(capacity, unit), share] : [];
    const where = `${formatMs(memory.peak_ps)}${step === null || step < 0 ? "" : `, step ${groupDigits(step)}`}`;
    const jump = button(where, toPeak, { class: "link", id: "to-peak", title: "Go to the peak (p)" });
    node.replaceChildren(el("strong", {}, sizeFigure(peak, unit)), " peak", ...of, ", ", jump);
  }

  const stop = state.watch(["unit"], show);
  show();
  return { node, dispose: stop };
}
