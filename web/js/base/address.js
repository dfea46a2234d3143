// @ts-check
// Where the state of the page stands: behind "?" in its address; in a saved page, which no server answers, behind "#".

let saved = null;

/** From now on in the fragment; `query` is what the page opens with where its address says nothing. */
export function keepInFragment(query) {
  saved = query;
}

/** Whether this is a saved page. */
export const isInFragment = () => saved !== null;

/** "?run=..." or "". */
export function addressQuery() {
  if (saved === null) return location.search;
  return location.hash.length > 1 ? location.hash.slice(1) : saved;
}

/** The address with that query, for the history. */
export function addressOf(query) {
  return saved === null ? `${location.pathname}${query}` : `#${query || "?"}`;
}

/** The same, for the entry of the history that stands now: what a tool keeps behind "#" stays with it. */
export function addressHere(query) {
  return saved === null ? addressOf(query) + location.hash : addressOf(query);
}
