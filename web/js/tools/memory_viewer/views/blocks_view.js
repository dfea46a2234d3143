// @ts-check
// "Buffer Allocation Timeline": where every temporary buffer lies, and when. Shares its steps axis with the curve.
import { attachChartMouse } from "../../../base/chart_mouse.js";
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, groupDigits, plural, pluralOf } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { sameRange, span } from "../../../base/range.js";
import { runInSlices } from "../../../base/slices.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { nameOf } from "../data/model.js";
import { blockAt } from "../layout/blocks.js";
import { createBlockPainter, drawBlockOverlay } from "../draw/block_painter.js";
import { blockColors, blockStyles } from "../draw/block_styles.js";

export function createBlocks(state) {
  const { model, blocks } = state;
  const base = el("canvas", { class: "blocks-base", role: "img", "aria-label": summary(blocks) });
  const overlay = el("canvas", { class: "overlay" });
  const readout = el("span", { class: "readout" });
  const elided = el("span", { class: "aside", id: "blocks-merged" });
  const frame = el("div", { class: "blocks" }, base, overlay);
  const reset = button("Reset Zoom", state.actions.showAll, { class: "quiet small", id: "reset-zoom" });
  const options = { tabindex: 0, "aria-label": "buffer allocation timeline" };
  const node = chartSection("Buffer Allocation Timeline", [reset, elided, readout], [frame], options);
  const painter = createBlockPainter(base);
  let colors = null;
  let ofBlock = null;
  let mark = null;
  let isPainting = false;
  let isStale = false;
  let stopPainting = () => {};

  function restyle() {
    const { lit: flags, step } = state.get();
    ofBlock = blockStyles(model, blocks, { flags, onlyLiveAt: step === model.peakStep ? null : step });
    requestFrame(draw);
  }

  function view() {
    const { x, y } = state.get();
    return { x, y };
  }

  /** Very many blocks take some frames: what changes meanwhile is drawn when they stand. */
  function draw() {
    if (!ofBlock) return;
    drawOverlay();
    isStale = isPainting;
    if (isPainting) return;
    isPainting = true;
    stopPainting = runInSlices(painter.paint({ model, blocks, view: view(), colors, ofBlock }), (drawn) => {
      isPainting = false;
      showElided(drawn);
      if (isStale) requestFrame(draw);
    });
  }

  function drawOverlay() {
    drawBlockOverlay(overlay, { state, view: view(), mark });
    const { hover, unit } = state.get();
    const isBlock = hover !== null && blocks.indexOfRow[hover] >= 0;
    setText(readout, isBlock ? hoverText(model, hover, unit) : "");
  }

  function showElided({ visible, merged }) {
    const where = visible === blocks.count ? "" : " in view";
    const count = pluralOf(visible, blocks.count, "block");
    setText(elided, `${count}${where}${merged ? `, ${groupDigits(merged)} under a pixel merged` : ""}`);
  }

  function rowAt(at) {
    const { x, y } = view();
    const i = blockAt(blocks, at.x, at.y, span(x) / base.clientWidth, span(y) / base.clientHeight);
    return i < 0 ? null : blocks.row[i];
  }

  attachChartMouse(base, {
    view,
    isFull: () => sameRange(view().x, state.full.x) && sameRange(view().y, state.full.y),
    actions: state.actions,
    zooms: (event) => (event.shiftKey ? "x" : event.altKey ? "y" : "xy"),
    pansY: true,
    marksY: true,
    onHover(at) {
      state.actions.hoverStep(at && Math.max(0, Math.min(model.lastStep, Math.floor(at.x))));
      state.actions.hoverRow(at && rowAt(at));
    },
    onClick(at) {
      const row = rowAt(at);
      if (row !== null) state.actions.pinRow(row);
    },
    onMark(now) {
      mark = now;
      requestFrame(drawOverlay);
    },
  });

  function redraw() {
    colors = blockColors();
    restyle();
  }

  const dispose = together(
    onResize(frame, draw),
    inFrame(state, ["x", "y", "unit"], draw),
    state.watch(["lit", "step"], restyle),
    inFrame(state, ["hover", "pinned", "hoverStep", "step"], drawOverlay),
    () => stopPainting(),
  );
  return { node, start: redraw, redraw, dispose };
}

function hoverText(model, row, unit) {
  const place = `${formatSize(model.size[row], unit)} at offset ${formatSize(model.offset[row], unit)}`;
  const life = `steps ${groupDigits(model.startStep[row])} to ${groupDigits(model.endStep[row])}`;
  return `${nameOf(model, row)}:  ${place}, ${life}`;
}

function summary(blocks) {
  const what = `${plural(blocks.count, "temporary buffer")} by offset and program order`;
  const where = plural(blocks.lanes.length, "allocation");
  return `Buffer allocation timeline: ${what} in ${where}. The table lists those live at the chosen step.`;
}
