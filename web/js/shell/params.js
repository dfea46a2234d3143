// @ts-check
/**
 * The state of the page, bound to the address bar. `set` replaces the present entry (gathered, since browsers limit how
 * often one may); `go` makes a new entry that "back" undoes. What stands behind "#" is a tool's own (the text that
 * "Out of memory" explains): it stays with its entry.
 */
import { addressHere, addressOf, addressQuery } from "../base/address.js";
import { createStore } from "../base/store.js";
import { formatQuery, parseQuery } from "../base/url_state.js";

const REPLACE_DELAY_MS = 120;

export function createParams() {
  const store = createStore(parseQuery(addressQuery()));
  let timer = 0;

  function replaceNow() {
    clearTimeout(timer);
    timer = 0;
    const query = formatQuery(store.get());
    if (query !== addressQuery()) history.replaceState(null, "", addressHere(query));
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
    history.pushState(null, "", addressOf(formatQuery({ ...before, ...patch })));
    store.set(patch);
  }

  window.addEventListener("popstate", () => store.set(parseQuery(addressQuery())));
  window.addEventListener("pagehide", () => {
    if (timer) replaceNow();
  });
  return { get: store.get, watch: store.watch, set, go, query: () => formatQuery(store.get()) };
}
