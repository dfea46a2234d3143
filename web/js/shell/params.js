// @ts-check
/**
 * The state of the page, bound to the address bar. `set` replaces the present entry (gathered, since browsers limit how
 * often one may); `go` makes a new entry that "back" undoes. What stands behind "#" is a tool's own (the text that
 * "Out of memory" explains): it stays with its entry.
 */
import { createStore } from "../base/store.js";
import { formatQuery, parseQuery } from "../base/url_state.js";

const REPLACE_DELAY_MS = 120;

export function createParams() {
  const store = createStore(parseQuery(location.search));
  let timer = 0;

  function address() {
    return `${location.pathname}${formatQuery(store.get())}`;
  }

  function replaceNow() {
    clearTimeout(timer);
    timer = 0;
    const now = `${location.pathname}${location.search}`;
    if (address() !== now) history.replaceState(null, "", address() + location.hash);
  }

  function set(patch) {
    if (!store.set(patch)) return;
    clearTimeout(timer);
    timer = window.setTimeout(replaceNow, REPLACE_DELAY_MS);
  }

  function go(patch) {
    const before = store.get();
    if (Object.keys(patch).every((key) => before[key] === patch[key])) return;
    if (timer) replaceNow();
    history.pushState(null, "", `${location.pathname}${formatQuery({ ...before, ...patch })}`);
    store.set(patch);
  }

  window.addEventListener("popstate", () => store.set(parseQuery(location.search)));
  window.addEventListener("pagehide", () => {
    if (timer) replaceNow();
  });
  return { get: store.get, watch: store.watch, set, go, query: () => formatQuery(store.get()) };
}
