// @ts-check
/**
 * What to change, the most bytes first; where bytes are not known the server's order stands, which is by likelihood.
 * @typedef {{id: string | null, text: string, how: string | null, changesNumerics: boolean | null,
 *            savesBytes: number | null}} Fix
 */

const UNKNOWN = Number.MIN_SAFE_INTEGER;

/** A fix may come as a bare sentence. @returns {Fix[]} */
export function rankedFixes(message) {
  const fixes = (message.fixes ?? []).map(fixOf);
  const place = new Map(fixes.map((fix, i) => [fix, i]));
  return fixes.sort((a, b) => (b.savesBytes ?? UNKNOWN) - (a.savesBytes ?? UNKNOWN) || place.get(a) - place.get(b));
}

function fixOf(fix) {
  if (typeof fix === "string") return { id: null, text: fix, how: null, changesNumerics: null, savesBytes: null };
  return {
    id: fix.id ?? null,
    text: fix.text ?? fix.id ?? "",
    how: fix.how || null,
    changesNumerics: fix.changes_numerics ?? null,
    savesBytes: fix.saves_bytes ?? null,
  };
}
