// @ts-check
/**
 * A place in a source file as a link that opens an editor. The scheme is one of a fixed list and the path is encoded,
 * so whatever a profile says the link runs nothing. Code that ran elsewhere is found here by another prefix. Pure.
 * @typedef {{editor: string, from: string, to: string}} EditorChoice `editor` is an id of EDITORS, or "" for none; a
 *     path that begins with `from` begins with `to` instead
 */

/** Each takes the encoded path ("/home/u/train.py") and the line. */
export const EDITORS = [
  { id: "vscode", name: "VS Code", url: (path, line) => `vscode://file${path}:${line}` },
  { id: "cursor", name: "Cursor", url: (path, line) => `cursor://file${path}:${line}` },
  { id: "windsurf", name: "Windsurf", url: (path, line) => `windsurf://file${path}:${line}` },
  { id: "zed", name: "Zed", url: (path, line) => `zed://file${path}:${line}` },
  { id: "idea", name: "PyCharm, IntelliJ", url: (path, line) => `idea://open?file=${path}&line=${line}` },
];

/** "train.py:53" -> its path and line; null for what names no line. */
export function placeParts(place) {
  const parts = /^(.*?):(\d+)$/.exec(place);
  return parts && { path: parts[1], line: Number(parts[2]) };
}

/** "/home/u/train.py:53:10 make_step" (a frame of a stack) -> its place, and what follows that. */
export function framePlace(frame) {
  const parts = /^(\S.*?:\d+)(?=(:\d+)?(\s|$))/.exec(frame);
  return parts ? { place: parts[1], rest: frame.slice(parts[1].length) } : { place: "", rest: frame };
}

/** The path as it is on this machine. @param {string} path @param {EditorChoice} choice */
export function mappedPath(path, choice) {
  const { from, to } = choice;
  return from !== "" && path.startsWith(from) ? to + path.slice(from.length) : path;
}

/** null without an editor, and for a path that is not whole. @param {string} place @param {EditorChoice} choice */
export function editorUrl(place, choice) {
  const editor = EDITORS.find((one) => one.id === choice.editor);
  const parts = placeParts(place);
  if (!editor || !parts) return null;
  const path = mappedPath(parts.path, choice).replaceAll("\\", "/");
  const whole = /^[A-Za-z]:\//.test(path) ? `/${path}` : path;
  if (!whole.startsWith("/") || whole.startsWith("//") || hasControls(whole)) return null;
  return editor.url(whole.split("/").map(encodeURIComponent).join("/"), parts.line);
}

const hasControls = (text) => [...text].some((c) => c < " " || c === "\u007f");
