// @ts-check
/**
 * Asks who holds the memory: at the peak first, then at each step that the cursor rests on. What is shown stays until
 * the answer is here; an answer that is no longer wanted is dropped.
 *
 *     state: by, frameworks, step ──> ask ──> groups ──> the panel
 *            group, hoverGroup ─────────────> their rows, lit in all charts (viewer_state.js)
 */
import { createLatest } from "../../api.js";
import { createStore } from "../../base/store.js";
import { together } from "../../base/upkeep.js";
import { groupsOf, membersOf } from "./data/groups.js";
import { groupsOfRows } from "./data/labels.js";

const REST_MS = 60; // of a cursor that moves on

/** @param {(query: {by: string, step: number | null, frameworks: string | null}, signal: AbortSignal) =>
 *          Promise<any>} fetchGroups */
export function createGroupFeed(state, fetchGroups) {
  const store = createStore({ groups: null, error: null, isBusy: true });
  const latest = createLatest();
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
      const groups = groupsOf(await latest.run((signal) => fetchGroups(query, signal)));
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
    state.actions.tellGroups(groups && groupsOfRows(state.model, groups));
    light();
  }

  /** Rows have the numbers of the whole model. */
  function light() {
    if (!state.model.isWhole) return;
    const { group, hoverGroup } = state.get();
    const { groups } = store.get();
    state.actions.light(membersOf(groups, group), membersOf(groups, hoverGroup));
  }

  const stop = together(
    state.watch(["by", "frameworks", "step"], want),
    state.watch(["rows"], tell), // of another step, or of the whole model
    state.watch(["group", "hoverGroup"], light),
    latest.stop,
    () => clearTimeout(timer),
  );
  return { get: store.get, watch: store.watch, start: want, dispose: stop };
}
