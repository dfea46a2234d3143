// @ts-check
/**
 * A record of values that views watch.
 *   const hover = createStore({ row: null });
 *   hover.watch(["row"], (now) => draw(now.row));
 *   hover.set({ row: 3 });              // watchers of "row" run once, after all values are in place
 */
export function createStore(initial) {
  let values = { ...initial };
  const watchers = new Set();

  function set(patch) {
    const changed = Object.keys(patch).filter((key) => !Object.is(values[key], patch[key]));
    if (changed.length === 0) return false;
    values = { ...values, ...patch };
    for (const watcher of [...watchers]) {
      if (!watchers.has(watcher)) continue; // stopped by one before it
      if (watcher.keys.some((key) => changed.includes(key))) watcher.call(values, changed);
    }
    return true;
  }

  function watch(keys, call) {
    const watcher = { keys, call };
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  }

  return { get: () => values, set, watch };
}
