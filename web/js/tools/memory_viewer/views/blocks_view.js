// @ts-check
/**
 * "Buffer Allocation Timeline": where every buffer lies, and when; what is free at the cursor. Shares its steps axis
 * with the curve. The strip above says what there is, the minimap below where in it the window is.
 */
import { attachChartMouse } from "../../../base/chart_mouse.js";
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { requestFrame } from "../../../base/frame.js";
import { createFullScreen } from "../../../base/full_screen.js";
import { drawnBy } from "../../../base/picture/drawn_by.js";
import { sameRange, span } from "../../../base/range.js";
import { runInSlices } from "../../../base/slices.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { drawnWords, timelineSummary } from "../data/block_words.js";
import { blockAt } from "../layout/blocks.js";
import { laneAt } from "../layout/lanes.js";
import { isFolded } from "../layout/shown_blocks.js";
import { drawBlockOverlay } from "../draw/block_overlay.js";
import { createBlockPainter } from "../draw/block_painter.js";
import { drawBlockVectors } from "../draw/block_vectors.js";
import { blockColors, blockStyles } from "../draw/block_styles.js";
import { attachBlockKeys } from "./block_keys.js";
import { createReadout } from "./blocks_readout.js";
import { createLaneStrip } from "./blocks_lanes.js";
import { createMinimap } from "./blocks_minimap.js";

const KEYS = "Up and down go from block to block at the cursor, Enter pins.";

export function createBlocks(state) {
  const { model, blocks } = state;
  const base = el("canvas", { class: "blocks-base", role: "img", "aria-label": timelineSummary(blocks) });
  const overlay = el("canvas", { class: "overlay" });
  const elided = el("span", { class: "aside", id: "blocks-merged" });
  const frame = el("div", { class: "blocks" }, base, overlay);
  const reset = button("Reset Zoom", state.actions.showAll, { class: "quiet small", id: "reset-zoom" });
  const fill = button("", () => state.actions.fillScreen(!state.get().fullScreen), {
    ...{ class: "quiet small", id: "full-screen", title: "this chart alone on the screen (f; Esc leaves)" },
  });
  const strip = createLaneStrip(state);
  const readout = createReadout(state);
  const minimap = createMinimap(state, sceneNow);
  const options = { tabindex: 0, "aria-label": `buffer allocation timeline. ${KEYS}` };
  const content = [strip.node, readout.node, frame, minimap.node];
  const head = [reset, fill, elided, strip.leftOut];
  const node = chartSection("Buffer Allocation Timeline", head, content, options, { what: "blocks" });
  const painter = createBlockPainter(base);
  const fullScreen = createFullScreen(node, () => state.actions.fillScreen(false));
  let colors = null;
  let ofBlock = null;
  let mark = null;
  let isPainting = false;
  let isStale = false;
  let stopPainting = () => {};

  function restyle() {
    if (!colors) return;
    const { lit: flags, step, groupOf } = state.get();
    ofBlock = blockStyles(model, blocks, { flags, onlyLiveAt: step === model.peakStep ? null : step, groupOf });
    requestFrame(drawAnew);
  }

  function view() {
    const { x, y } = state.get();
    return { x, y };
  }

  function sceneNow() {
    const { folded, groupOf, unit } = state.get();
    const look = { folded, groupOf, unit, colors, ofBlock };
    return { model, blocks, index: state.blockIndex(), view: view(), isNamed: true, ...look };
  }

  function drawAnew() {
    draw();
    minimap.repaint();
  }

  /** Very many blocks take some frames: what changes meanwhile is drawn when they stand. */
  function draw() {
    if (!ofBlock) return;
    drawOverlay();
    isStale = isPainting;
    if (isPainting) return;
    isPainting = true;
    stopPainting = runInSlices(painter.paint(sceneNow()), (drawn) => {
      isPainting = false;
      showElided(drawn);
      if (isStale) requestFrame(draw);
    });
  }

  function drawOverlay() {
    drawOver(overlay);
    readout.draw();
  }

  const drawOver = (surface) =>
    drawBlockOverlay(surface, { state, view: view(), mark, holes: state.holesAt(state.stepInFocus()) });

  function showElided(drawn) {
    setText(elided, drawnWords(drawn, blocks, state.get().folded));
  }

  function rowAt(at) {
    const { x, y } = view();
    const [pixelX, pixelY] = [span(x) / base.clientWidth, span(y) / base.clientHeight];
    const about = state.blockIndex().within(at.x - pixelX, at.x);
    const i = blockAt(blocks, about, at.x, at.y, pixelX, pixelY);
    return i < 0 || isFolded(blocks, state.get().folded, i) ? null : blocks.row[i];
  }

  function hover(at) {
    state.actions.hoverStep(at && Math.max(0, Math.min(model.lastStep, Math.floor(at.x))));
    state.actions.hoverRow(at && rowAt(at));
    readout.point(at);
  }

  /** A folded band opens. */
  function choose(at) {
    const row = rowAt(at);
    if (row !== null) return state.actions.pinRow(row);
    const lane = laneAt(blocks.lanes, at.y);
    if (lane && state.get().folded.has(lane.key)) state.actions.fold(lane.key);
  }

  drawnBy(base, (surface) => drawBlockVectors(surface, sceneNow()));
  drawnBy(overlay, drawOver);
  attachChartMouse(base, {
    view,
    isFull: () => sameRange(view().x, state.full.x) && sameRange(view().y, state.full.y),
    actions: state.actions,
    zooms: (event) => (event.shiftKey ? "x" : event.altKey ? "y" : "xy"),
    pansY: true,
    marksY: true,
    onHover: hover,
    onClick: choose,
    onMark(now) {
      mark = now;
      requestFrame(drawOverlay);
    },
  });

  function showFullScreen() {
    const { fullScreen: isOn } = state.get();
    setText(fill, isOn ? "Leave full screen" : "Full screen");
    fullScreen.show(isOn);
  }

  function redraw() {
    colors = blockColors();
    strip.draw();
    showFullScreen();
    restyle();
  }

  const dispose = together(
    onResize(frame, drawAnew),
    inFrame(state, ["x", "y"], draw),
    inFrame(state, ["x", "y"], minimap.draw),
    inFrame(state, ["unit", "folded"], drawAnew),
    inFrame(state, ["lit", "step", "groupOf"], restyle),
    state.watch(["fullScreen"], showFullScreen),
    inFrame(state, ["hover", "pinned", "hoverStep", "step"], drawOverlay),
    attachBlockKeys(node, state),
    () => stopPainting(),
    () => state.actions.fillScreen(false),
    ...[strip, minimap, fullScreen].map((part) => part.dispose),
  );
  return { node, start: redraw, redraw, dispose };
}
