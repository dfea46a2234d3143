// @ts-check
/**
 * What a session has to show, told by the names in its files (GET /api/v1/session): asked once and kept until the
 * sessions are looked for anew.
 * @typedef {{files: number, unreadable_files: number, size_bytes: number | null, programs: number, tools: string[],
 *            devices: import("../base/devices.js").ProfiledDevice[]}} Contents
 */

/** @param {(session: string) => Promise<Contents>} ask */
export function createSessionContents(ask) {
  /** @type {Map<string, Promise<Contents | null>>} */
  let asked = new Map();
  /** @type {Map<string, Contents>} */
  let known = new Map();

  /** null where it cannot be told; then it is asked again the next time. @param {string} session */
  function look(session) {
    const before = asked.get(session);
    if (before) return before;
    const now = ask(session).then(
      (contents) => {
        if (asked.get(session) === now) known.set(session, contents);
        return contents;
      },
      () => {
        if (asked.get(session) === now) asked.delete(session);
        return null;
      },
    );
    asked.set(session, now);
    return now;
  }

  /** All that is known, or what is known of these. @param {string[] | null} names */
  function forget(names = null) {
    asked = without(asked, names);
    known = without(known, names);
  }

  return { look, known: (session) => known.get(session) ?? null, forget };
}

/** @template T @param {Map<string, T>} map @param {string[] | null} names null: all */
const without = (map, names) => new Map([...map].filter(([name]) => names !== null && !names.includes(name)));

const MISSING = {
  memory_viewer: "no compiled program",
  memory_profile: "no allocator events",
  device_memory: "no device memory profile",
  compare: "no compiled program",
};

/** Why a tool has nothing to show here; "" where it has, or where nobody knows. @param {Contents | null} contents */
export function whatIsMissing(contents, tool) {
  if (contents === null || !(tool in MISSING) || contents.tools.includes(tool)) return "";
  if (contents.files > 0 && contents.unreadable_files === contents.files) return "cannot be read";
  return contents.files === 0 ? "no profile in this folder" : MISSING[tool];
}

/** The tool to open: `wanted`, unless only others have something to show. @param {Contents | null} contents */
export function toolWithData(contents, wanted) {
  return whatIsMissing(contents, wanted) === "" ? wanted : (contents?.tools[0] ?? wanted);
}
