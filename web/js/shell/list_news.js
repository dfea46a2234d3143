// @ts-check
/**
 * What is new from one list of sessions (GET /api/v1/sessions) to the next. Pure.
 * @typedef {{name: string, modified_s: number, version: string}} Listed
 * @typedef {{sessions: Listed[], device_memory?: Listed[], version?: string}} List
 * @typedef {{added: string[], changed: string[], removed: string[]}} News
 */

/** @param {List} list @returns {Map<string, string>} name to version */
const versionsOf = (list) =>
  new Map([...list.sessions, ...(list.device_memory ?? [])].map(({ name, version }) => [name, version]));

/** @param {List | null} before null: everything was seen @param {List} now @returns {News} */
export function newsOf(before, now) {
  if (before === null || before.version === now.version) return { added: [], changed: [], removed: [] };
  const [old, current] = [versionsOf(before), versionsOf(now)];
  const names = [...current.keys()];
  return {
    added: names.filter((name) => !old.has(name)),
    changed: names.filter((name) => old.has(name) && old.get(name) !== current.get(name)),
    removed: [...old.keys()].filter((name) => !current.has(name)),
  };
}

/**
 * What the reader has not seen yet: with the news, and without what has gone.
 * @param {Map<string, "new" | "changed">} unseen @param {News} news @param {(string | null)[]} open on the screen
 */
export function withNews(unseen, { added, changed, removed }, open) {
  const now = new Map(unseen);
  for (const name of changed) if (!now.has(name)) now.set(name, "changed");
  for (const name of added) now.set(name, "new");
  for (const name of [...removed, ...open]) if (name !== null) now.delete(name);
  return now;
}

/** "2 new, 1 changed"; "" for nothing. @param {Map<string, "new" | "changed">} unseen */
export function newsText(unseen) {
  const kinds = /** @type {const} */ (["new", "changed"]);
  const counts = kinds.map((kind) => [kind, [...unseen.values()].filter((one) => one === kind).length]);
  return counts
    .filter(([, count]) => count)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(", ");
}
