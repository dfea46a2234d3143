// @ts-check
/**
 * What the charts of one memory view show together. What deserves a link lives in the page's params (step, buffer,
 * zoom, filter, sort, unit, capacity) and is decoded here; what follows the mouse lives here alone.
 *
 *     params ──decode──> store ──watch──> charts
 *        ^                 ^                |
 *        └──── actions ────┴──── events ────┘
 *
 * The model is that of the first reply until `adopt` takes the whole one; charts are made anew then, since rows have
 * other numbers. Until then the step is the peak's.
 */
import { runInSlices } from "../../base/slices.js";
import { createStore } from "../../base/store.js";
import { parseSize } from "../../base/size_text.js";
import { clampRange, panRange, range, revealRange, sameRange, zoomRange } from "../../base/range.js";
import { unitMode } from "../../shell/unit_switch.js";
import { largestRow, liveRows } from "./data/live.js";
import { rowOfBuffer } from "./data/model.js";
import { matchRows, rankedMatches } from "./data/search.js";
import { fullSteps, parseZoom, zoomText } from "./layout/axes.js";
import { buildBlocks } from "./layout/blocks.js";

const MIN_STEPS = 4;
const MIN_BYTES = 64;
const NOTHING_POINTED_AT = { hover: null, lastHover: null, hoverStep: null };
const NO_BLOCKS = buildBlocks({ count: 0, bySize: new Uint32Array(0), allocations: { index: [] } });

export function createViewerState(firstModel, params) {
  let model = firstModel;
  let blocks = NO_BLOCKS;
  let full = { x: fullSteps(model), y: range(0, 1) };
  let writtenZoom = params.get().zoom;
  let stopSearch = () => {};
  const store = createStore({ ...NOTHING_POINTED_AT, flags: null, ...decodeAll(params.get()) });
  search();
  const stop = params.watch(["step", "buffer", "zoom", "filter", "sort", "unit", "capacity"], (now, changed) => {
    const patch = decodeAll(now, changed);
    if (changed.includes("zoom") && now.zoom === writtenZoom) {
      delete patch.x;
      delete patch.y;
    }
    store.set(patch);
    if (changed.includes("filter")) search();
  });

  function adopt(wholeModel) {
    model = wholeModel;
    blocks = buildBlocks(model);
    full = { x: fullSteps(model), y: range(0, Math.max(1, blocks.height)) };
    store.set({ ...NOTHING_POINTED_AT, flags: null, ...decodeAll(params.get()) });
    search();
  }

  function search() {
    stopSearch();
    stopSearch = runInSlices(matchRows(model, params.get().filter), (flags) => store.set({ flags }));
  }

  function decodeAll(now, changed = null) {
    const wants = (key) => changed === null || changed.includes(key);
    return {
      ...(wants("step") ? decodeStep(now) : {}),
      ...(wants("buffer") ? { pinned: now.buffer === null ? null : rowOfBuffer(model, Number(now.buffer)) } : {}),
      ...(wants("zoom") ? decodeZoom(now) : {}),
      ...(wants("filter") ? { query: now.filter ?? "" } : {}),
      ...(wants("sort") ? { sort: now.sort } : {}),
      ...(wants("unit") ? { unit: unitMode(now) } : {}),
      ...(wants("capacity") ? { capacity: parseSize(now.capacity) } : {}),
    };
  }

  function decodeStep({ step }) {
    const wanted = step === null ? NaN : Number(step);
    const known = Number.isInteger(wanted) && wanted >= 0 && wanted <= model.lastStep && model.steps > 0;
    const position = known && model.isWhole ? wanted : model.peakStep;
    return { step: position, rows: liveRows(model, position) };
  }

  function decodeZoom({ zoom }) {
    const wanted = parseZoom(zoom);
    return {
      x: wanted ? clampRange(wanted.x, full.x) : full.x,
      y: wanted?.y ? clampRange(wanted.y, full.y) : full.y,
    };
  }

  function show(x, y = store.get().y) {
    const isFull = sameRange(x, full.x) && sameRange(y, full.y);
    writtenZoom = isFull ? null : zoomText(x, sameRange(y, full.y) ? null : y);
    store.set({ x, y });
    params.set({ zoom: writtenZoom });
  }

  const actions = {
    hoverRow(row) {
      store.set(row === null ? { hover: null } : { hover: row, lastHover: row });
    },
    hoverStep(step) {
      store.set({ hoverStep: step });
    },
    pinRow(row) {
      params.set({ buffer: row === null || row === store.get().pinned ? null : String(model.id[row]) });
    },
    letGo() {
      store.set({ hover: null, lastHover: null });
      params.set({ buffer: null });
    },
    setStep(step) {
      const position = Math.max(0, Math.min(model.lastStep, Math.round(step)));
      params.set({ step: position === model.peakStep ? null : String(position) });
    },
    /** The keys take the cursor from a mouse that rests on a chart: the readout would still tell the mouse's step. */
    moveStep(delta) {
      actions.hoverStep(null);
      actions.setStep(store.get().step + delta);
      const { step, x } = store.get();
      show(revealRange(x, step, step + 1, full.x));
    },
    zoomX(anchor, factor) {
      show(zoomRange(store.get().x, anchor, factor, full.x, MIN_STEPS));
    },
    zoomBoth(anchorX, anchorY, factor) {
      show(
        zoomRange(store.get().x, anchorX, factor, full.x, MIN_STEPS),
        zoomRange(store.get().y, anchorY, factor, full.y, MIN_BYTES),
      );
    },
    zoomY(anchorY, factor) {
      show(store.get().x, zoomRange(store.get().y, anchorY, factor, full.y, MIN_BYTES));
    },
    pan(dx, dy = 0) {
      show(panRange(store.get().x, dx, full.x), panRange(store.get().y, dy, full.y));
    },
    showRange(x, y) {
      show(clampRange(x, full.x), y ? clampRange(y, full.y) : store.get().y);
    },
    showAll() {
      show(full.x, full.y);
    },
    search(text) {
      params.set({ filter: text === "" ? null : text });
    },
    sortBy(sort) {
      params.set({ sort });
    },
    nextMatch(direction = 1) {
      const { flags, pinned } = store.get();
      if (!flags) return;
      const ranked = rankedMatches(model, flags);
      if (ranked.length === 0) return;
      const at = ranked.indexOf(pinned);
      const row = ranked[at < 0 ? 0 : (at + direction + ranked.length) % ranked.length];
      if (row !== pinned) actions.pinRow(row);
      actions.reveal(row);
    },
    reveal(row) {
      const i = blocks.indexOfRow[row];
      if (i < 0) return;
      const { x, y } = store.get();
      show(revealRange(x, blocks.x0[i], blocks.x1[i], full.x), revealRange(y, blocks.y0[i], blocks.y1[i], full.y));
    },
  };

  return {
    get model() {
      return model;
    },
    get blocks() {
      return blocks;
    },
    get full() {
      return full;
    },
    adopt,
    actions,
    get: store.get,
    watch: store.watch,
    dispose() {
      stop();
      stopSearch();
    },
    /** The row that all charts outline: the one under the mouse, else the pinned one. */
    focusRow: () => store.get().hover ?? store.get().pinned,
    /** The row of the details card: it stays when the mouse leaves, and starts with the largest live buffer. */
    cardRow: () =>
      store.get().hover ?? store.get().pinned ?? store.get().lastHover ?? largestRow(model, store.get().rows),
  };
}
