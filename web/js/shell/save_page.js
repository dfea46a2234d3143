// @ts-check
// "Save": this view as one .html file that opens from disk without a server; and what such a file says of itself.
import { fetchSavedPage } from "../api.js";
import { button, el, setText } from "../base/dom.js";
import { saveBlob } from "../base/save_file.js";

const SHOWN_MS = 8000;

/** @param {any} progress of the shell @param {() => object | Promise<object>} more what the tool that is open adds */
export function createSave(params, progress, more) {
  const said = el("span", { class: "said", role: "status" });
  const title = "This view as one .html file: opens from disk, works offline, can be sent to anybody";
  const node = button("Save", save, { class: "quiet", id: "save-page", title });
  let timer = 0;

  function say(text) {
    setText(said, text);
    clearTimeout(timer);
    timer = window.setTimeout(() => setText(said, ""), SHOWN_MS);
  }

  async function save() {
    node.disabled = true;
    try {
      const asked = fetchSavedPage(params.query(), await more());
      const { name, blob } = await progress.during("putting the page together", asked);
      saveBlob(name, blob);
      say(`Saved as ${name}`);
    } catch (error) {
      say(error.message);
    }
    node.disabled = false;
  }

  return { node: el("span", { class: "copy-link" }, said, node) };
}

/** @param {{left_out: string[]}} saved */
export function savedNote({ left_out: leftOut }) {
  document.body.dataset.saved = "";
  const title = ["This page holds one view, and asks no server.", ...leftOut].join("\n");
  const more = leftOut.length > 0 ? el("span", { class: "saved-left-out" }, leftOut.join(" ")) : null;
  return el("span", { class: "saved-note", title }, el("b", {}, "Saved page"), more);
}
