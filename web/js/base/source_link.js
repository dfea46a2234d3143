// @ts-check
// Places in source files that open in the editor of one's choice: chosen once, kept in this browser.
import { button, el } from "./dom.js";
import { EDITORS, editorUrl } from "./editor_url.js";

const KEY = "hbmview-editor";
const NONE = { editor: "", from: "", to: "" };

/** @returns {import("./editor_url.js").EditorChoice} */
function readChoice() {
  try {
    const { editor, from, to } = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    const text = (value) => (typeof value === "string" ? value : "");
    return { editor: text(editor), from: text(from), to: text(to) };
  } catch {
    return NONE;
  }
}

function keepChoice(choice) {
  try {
    localStorage.setItem(KEY, JSON.stringify(choice));
  } catch {
    /* no storage here: it holds until the page goes */
  }
}

let choice = readChoice();

/** A place that stands with many others: a link once an editor is chosen, `text` until then. */
export function placeLink(place, text = place) {
  return fillPlace(el("span", { class: "source-place", data: { place, text } }));
}

function fillPlace(node) {
  const { place, text } = node.dataset;
  const href = editorUrl(place, choice);
  node.replaceChildren(href ? el("a", { href, class: "mono", title: place }, text) : text);
  return node;
}

/** "/home/u/train.py:53" as a link into the editor, with a button to choose which; as text where none is chosen. */
export function sourceLink(place) {
  const node = el("span", { class: "source-link" });
  const draw = () => node.replaceChildren(placeLink(place), chooser(place, draw));
  draw();
  return node;
}

function chooser(place, onChange) {
  const title = "Choose the editor that opens source lines, and where code that ran elsewhere lies here";
  const label = choice.editor ? "…" : "open in …";
  return button(label, () => openDialog(place, onChange), { class: "copy editor-choose", title, "aria-label": title });
}

function openDialog(place, onChange) {
  const option = ({ id, name }) => el("option", { value: id, selected: id === choice.editor }, name);
  const editor = el("select", { name: "editor" }, option({ id: "", name: "none: no links" }), ...EDITORS.map(option));
  const from = el("input", { name: "from", value: choice.from, placeholder: "/srv/job/", spellcheck: "false" });
  const to = el("input", { name: "to", value: choice.to, placeholder: "/where/it/is/here/", spellcheck: "false" });
  const sample = el("p", { class: "note mono", role: "status" });
  const now = () => ({ editor: editor.value, from: from.value.trim(), to: to.value.trim() });
  const tell = () => sample.replaceChildren(editorUrl(place, now()) ?? "no link: no editor, or the path is not whole");
  const form = el(
    "form",
    { method: "dialog", on: { input: tell } },
    el("label", {}, "Editor ", editor),
    el("label", {}, "Paths that begin with ", from),
    el("label", {}, "begin here with ", to),
    sample,
    el(
      "div",
      { class: "editor-buttons" },
      button("Keep", () => dialog.close("keep"), { class: "quiet" }),
      button("Cancel", () => dialog.close(), { class: "quiet" }),
    ),
  );
  const dialog = el("dialog", { class: "help editor-dialog", "aria-label": "Open source lines in an editor" }, form);
  dialog.addEventListener("close", () => {
    if (dialog.returnValue === "keep") {
      choice = now();
      keepChoice(choice);
      onChange();
      document.querySelectorAll(".source-place").forEach(fillPlace);
    }
    dialog.remove();
  });
  document.body.append(dialog);
  tell();
  dialog.showModal();
  if (!choice.editor) editor.value = EDITORS[0].id;
  tell();
}
