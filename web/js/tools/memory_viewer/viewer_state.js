// @ts-check
/**
 * What the charts of one memory view show together. What deserves a link is in the address (step, buffer, group, zoom,
 * filter, sort); what follows the mouse lives here alone. Unit and capacity are the page's, and read from there.
 *
 * The model is that of the first reply until `adopt` takes the whole one; rows have other numbers then. Until then the
 * step is the peak's.
 */
import { createLinkedStore } from "../../base/linked_store.js";
import { runInSlices } from "../../base/slices.js";
import { parseSize } from "../../base/size_text.js";
import { clampRange, range, sameRange } from "../../base/range.js";
import { zoomActions } from "../../base/zoom.js";
import { unitMode } from "../../shell/unit_switch.js";
import { largestRow, liveRows } from "./data/live.js";
import { rowOfBuffer } from "./data/model.js";
import { heldOf } from "./data/group_rows.js";
import { openedText, parseOpened } from "../../base/opened_keys.js";
import { USUAL_WAY, WAYS } from "./data/groups.js";
import { USUAL_WEIGHT, WEIGHTS } from "./data/group_weights.js";
import { flagsWithin, matchRows, rankedMatches } from "./data/search.js";
import { fullSteps, parseZoom, zoomText } from "./layout/axes.js";
import { foldedText, parseFolded } from "./layout/shown_blocks.js";
import { NO_BLOCKS, buildBlocks } from "./layout/blocks.js";
import { buildBlockIndex } from "./layout/block_index.js";
import { holesAt } from "./layout/holes.js";

const MIN_STEPS = 4;
const MIN_BYTES = 64;

export function createViewerState(firstModel, params) {
  let model = firstModel;
  let blocks = NO_BLOCKS;
  let index = null; // of the blocks, made when it is asked for
  let holes = { step: NaN, lanes: [] }; // of the step that was asked for last
  let full = { x: fullSteps(model), y: range(0, 1) };
  let stopSearch = () => {};
  let rowsOf = { pinned: null, hover: null }; // groups
  const store = createLinkedStore({
    params,
    initial: {
      ...{ hover: null, lastHover: null, hoverStep: null, hoverGroup: null },
      ...{ found: null, flags: null, lit: null, held: null, groupOf: null, fullScreen: false },
    },
    readers: {
      step: ({ step }) => atStep(knownStep(step)),
      buffer: ({ buffer }) => ({ pinned: buffer === null ? null : rowOfBuffer(model, Number(buffer)) }),
      by: ({ by }) => ({ by: WAYS.some((way) => way.by === by) ? by : USUAL_WAY }),
      frameworks: ({ frameworks }) => ({ frameworks }),
      holder: ({ holder }) => ({ group: holder }),
      weight: ({ weight }) => ({ weight: WEIGHTS.some((one) => one.weight === weight) ? weight : USUAL_WEIGHT }),
      who: ({ who }) => ({ allGroups: who === "all" }),
      who_sort: ({ who_sort: groupSort }) => ({ groupSort }),
      opened: ({ opened }) => ({ opened: parseOpened(opened) }),
      zoom: ({ zoom }) => viewIn(parseZoom(zoom)),
      folded: ({ folded }) => ({ folded: parseFolded(folded) }),
      filter: ({ filter }) => ({ query: filter ?? "" }),
      sort: ({ sort }) => ({ sort }),
      unit: (now) => ({ unit: unitMode(now) }),
      capacity: ({ capacity }) => ({ capacity: parseSize(capacity) }),
    },
    encode: ({ step, pinned, by, group, weight, allGroups, groupSort, opened, x, y, folded, query, sort }) => ({
      step: step === model.peakStep ? null : String(step),
      buffer: pinned === null ? null : String(model.id[pinned]),
      by: by === USUAL_WAY ? null : by,
      holder: group,
      weight: weight === USUAL_WEIGHT ? null : weight,
      who: allGroups ? "all" : null,
      who_sort: groupSort,
      opened: openedText(opened),
      zoom: wordOfView(x, y),
      folded: foldedText(folded),
      filter: query === "" ? null : query,
      sort,
    }),
  });

  function adopt(wholeModel) {
    model = wholeModel;
    rowsOf = { pinned: null, hover: null };
    blocks = buildBlocks(model);
    index = null;
    holes = { step: NaN, lanes: [] };
    full = { x: fullSteps(model), y: range(0, Math.max(1, blocks.height)) };
    store.readAll();
    search();
  }

  function search() {
    stopSearch();
    stopSearch = runInSlices(matchRows(model, store.get().query), (found) => {
      store.set({ found });
      narrow();
    });
  }

  /**
   * What charts light, of any step: `flags` are the rows found, of the pinned group where there is one; `lit` those of
   * the group under the mouse, else `flags`; both null where all are. `held` is that group.
   */
  function narrow() {
    const { found, by, group, hoverGroup } = store.get();
    const flags = flagsWithin(found, rowsOf.pinned, model.count);
    store.set({
      flags,
      lit: rowsOf.hover ? flagsWithin(found, rowsOf.hover, model.count) : flags,
      held: heldOf(by, hoverGroup, rowsOf.hover) ?? heldOf(by, group, rowsOf.pinned),
    });
  }

  function knownStep(text) {
    const wanted = text === null || !model.isWhole ? NaN : Number(text);
    const isKnown = Number.isInteger(wanted) && wanted >= 0 && wanted <= model.lastStep && model.steps > 0;
    return isKnown ? wanted : model.peakStep;
  }

  function atStep(step) {
    return { step, rows: liveRows(model, step) };
  }

  function viewIn(wanted) {
    return {
      x: wanted ? clampRange(wanted.x, full.x) : full.x,
      y: wanted?.y ? clampRange(wanted.y, full.y) : full.y,
    };
  }

  function wordOfView(x, y) {
    const isWhole = sameRange(y, full.y);
    return isWhole && sameRange(x, full.x) ? null : zoomText(x, isWhole ? null : y);
  }

  const indexOfBlocks = () => (index ??= buildBlockIndex(blocks));

  /** What is free in the temporary allocations at a step. */
  function holesAtStep(step) {
    if (holes.step !== step) holes = { step, lanes: holesAt(blocks, indexOfBlocks().within(step, step), step) };
    return holes.lanes;
  }

  const actions = {
    ...zoomActions({
      view: store.get,
      full: () => full,
      least: { x: MIN_STEPS, y: MIN_BYTES },
      show: ({ x, y }) => store.write({ x, y }),
    }),
    hoverRow(row) {
      store.set(row === null ? { hover: null } : { hover: row, lastHover: row });
    },
    hoverStep(step) {
      store.set({ hoverStep: step });
    },
    pinRow(row) {
      store.write({ pinned: row === store.get().pinned ? null : row });
    },
    letGo() {
      store.write({ hover: null, lastHover: null, pinned: null, group: null });
    },
    groupBy(by) {
      store.write({ by, group: null, hoverGroup: null, opened: [] });
    },
    weighBy(weight) {
      store.write({ weight });
    },
    /** Opens the buffers of a group, or closes them. */
    toggleGroup(key) {
      const { opened } = store.get();
      store.write({ opened: opened.includes(key) ? opened.filter((one) => one !== key) : [...opened, key] });
    },
    showGroups(allGroups) {
      store.write({ allGroups });
    },
    sortGroups(groupSort) {
      store.write({ groupSort });
    },
    hoverGroup(key) {
      store.set({ hoverGroup: key });
    },
    /** Of groups that are paths: the one on top, null for all. */
    zoomGroup(key) {
      store.write({ group: key, hoverGroup: null });
    },
    pinGroup(key) {
      store.write({ group: key === store.get().group ? null : key });
    },
    /** @param {import("./data/labels.js").GroupOfRow | null} groupOf of the model's rows */
    tellGroups(groupOf) {
      store.set({ groupOf });
    },
    /** The rows of the pinned group and of the one under the mouse, at all steps, each null for none. */
    light(pinned, hover) {
      if (pinned === rowsOf.pinned && hover === rowsOf.hover) return;
      rowsOf = { pinned, hover };
      narrow();
    },
    setStep(step) {
      store.write(atStep(Math.max(0, Math.min(model.lastStep, Math.round(step)))));
    },
    /** The keys take the cursor from a mouse that rests on a chart: the readout would still tell the mouse's step. */
    moveStep(delta) {
      actions.hoverStep(null);
      actions.setStep(store.get().step + delta);
      const { step } = store.get();
      actions.revealAt(range(step, step + 1));
    },
    /** The timeline, alone. */
    fillScreen(isOn) {
      store.set({ fullScreen: isOn });
    },
    /** A band of the timeline, by its category's key. */
    fold(key) {
      const folded = new Set(store.get().folded);
      if (!folded.delete(key)) folded.add(key);
      store.write({ folded });
    },
    /** Bytes of the timeline's axis, over whatever steps are in sight. */
    showBytes(y) {
      store.write({ y: clampRange(y, full.y) });
    },
    showAll() {
      store.write(full);
    },
    search(text) {
      store.write({ query: text });
    },
    sortBy(sort) {
      store.write({ sort });
    },
    nextMatch(direction = 1) {
      const { flags, pinned } = store.get();
      if (!flags) return;
      const ranked = rankedMatches(model, flags);
      if (ranked.length === 0) return;
      const at = ranked.indexOf(pinned);
      const row = ranked[at < 0 ? 0 : (at + direction + ranked.length) % ranked.length];
      store.set({ hover: null }); // the card tells of the match, not of what the mouse rests on
      store.write({ pinned: row });
      actions.reveal(row);
    },
    reveal(row) {
      const i = blocks.indexOfRow[row];
      if (i < 0) return;
      const isWhole = blocks.x0[i] <= full.x.begin && blocks.x1[i] >= full.x.end;
      const life = isWhole ? store.get().x : range(blocks.x0[i], blocks.x1[i]);
      actions.revealAt(life, range(blocks.y0[i], blocks.y1[i]));
    },
  };

  const stop = store.watch(["query"], search);
  search();
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
    blockIndex: indexOfBlocks,
    holesAt: holesAtStep,
    /** The step that is told about: under the mouse, else the cursor's. */
    stepInFocus: () => store.get().hoverStep ?? store.get().step,
    adopt,
    actions,
    get: store.get,
    watch: store.watch,
    dispose() {
      stop();
      stopSearch();
      store.dispose();
    },
    /** The row that all charts outline: the one under the mouse, else the pinned one. */
    focusRow: () => store.get().hover ?? store.get().pinned,
    /** The row of the details card: it stays when the mouse leaves, and starts with the largest live buffer. */
    cardRow: () =>
      store.get().hover ?? store.get().pinned ?? store.get().lastHover ?? largestRow(model, store.get().rows),
  };
}
