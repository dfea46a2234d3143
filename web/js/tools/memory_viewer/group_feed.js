// @ts-check
/**
 * Asks who holds the memory: at the peak first, then at each step that the cursor rests on. What is shown stays until
 * the answer is here; an answer that is no longer wanted is dropped.
 *
 *     state: by, frameworks, step ──> ask ──────> groups ──> the panel
 *            group, hoverGroup ─────> askRows ──> which rows are theirs at any step: lit in all charts
 *                                                 (viewer_state.js: lit, flags, held)
 *
 * Which group each row belongs to is asked once for a way to group, when a group is pinned or under the mouse; until
 * then, and where that fails, those live at the step in sight are lit.
 */
import { createLatest } from "../../api.js";
import { createStore } from "../../base/store.js";
import { together } from "../../base/upkeep.js";
import { groupRowsOf, rowsOfKey } from "./data/group_rows.js";
import { groupsOf, membersOf } from "./data/groups.js";
import { groupsOfRows } from "./data/labels.js";

const REST_MS = 60; // of a cursor that moves on

/**
 * @param {{groups: (query: {by: string, step: number | null, frameworks: string | null}, signal: AbortSignal) =>
 *            Promise<any>,
 *          groupRows: (query: {by: string, frameworks: string | null}, signal: AbortSignal) => Promise<any>}} requests
 */
export function createGroupFeed(state, requests) {
  const store = createStore({ groups: null, error: null, isBusy: true });
  const latest = createLatest();
  const rows = createRowsFeed(state, requests.groupRows, light, (error) => store.set({ error }));
  let askedFor = "";
  let timer = 0;

  function want() {
    const { by, frameworks, step } = state.get();
    const query = { by: by === "source" ? null : by, frameworks, step: step === state.model.peakStep ? null : step };
    const key = JSON.stringify(query);
    if (key === askedFor) return;
    const isFirst = askedFor === "";
    askedFor = key;
    clearTimeout(timer);
    store.set({ isBusy: true });
    if (isFirst) ask(query);
    else timer = window.setTimeout(() => ask(query), REST_MS);
  }

  async function ask(query) {
    try {
      const groups = groupsOf(await latest.run((signal) => requests.groups(query, signal)));
      store.set({ groups, error: null, isBusy: false });
    } catch (error) {
      if (error.name === "AbortError") return;
      askedFor = "";
      store.set({ groups: null, error, isBusy: false });
    }
    tell();
  }

  function tell() {
    const { groups } = store.get();
    state.actions.tellGroups(groups && groupsOfRows(state.model, groups, state.get().groupOf));
    light();
  }

  /** Rows have the numbers of the whole model. */
  function light() {
    if (!state.model.isWhole) return;
    const { group, hoverGroup } = state.get();
    const { groups } = store.get();
    const all = group || hoverGroup ? rows.now() : null;
    const of = (key) => (key && all ? rowsOfKey(all, key) : membersOf(groups, key));
    state.actions.light(of(group), of(hoverGroup));
  }

  const stop = together(
    state.watch(["by", "frameworks", "step"], want),
    state.watch(["rows"], tell), // of another step, or of the whole model
    state.watch(["group", "hoverGroup"], light),
    latest.stop,
    rows.stop,
    () => clearTimeout(timer),
  );
  return { get: store.get, watch: store.watch, start: want, dispose: stop };
}

/** Which group each row belongs to, of the way to group that is shown. */
function createRowsFeed(state, fetchRows, onRows, onError) {
  const latest = createLatest();
  let askedFor = "";
  let rows = null;

  /** Null until they are here; the first who needs them asks. */
  function now() {
    const { by, frameworks } = state.get();
    const key = `${by} ${frameworks}`;
    if (key !== askedFor) {
      askedFor = key;
      rows = null;
      ask({ by: by === "source" ? null : by, frameworks });
    }
    return rows;
  }

  async function ask(query) {
    try {
      rows = groupRowsOf(await latest.run((signal) => fetchRows(query, signal)));
      onRows();
    } catch (error) {
      if (error.name !== "AbortError") onError(error);
    }
  }

  return { now, stop: latest.stop };
}
