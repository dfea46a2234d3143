// @ts-check
// The program around a buffer, as text to read and to copy; asked for when it is opened.
import { copyButton } from "../../../base/clipboard.js";
import { button, el, setText } from "../../../base/dom.js";
import { plural } from "../../../base/format.js";
import { saveText } from "../../../base/save_file.js";
import { errorLine } from "../../../shell/messages.js";

/** @param {string} name of the buffer @param {(signal: AbortSignal) => Promise<any>} ask */
export async function openHlo(name, ask) {
  const stopped = new AbortController();
  const facts = el("p", { class: "note", role: "status" }, "reading the program …");
  const text = el("pre", { class: "hlo-text", tabindex: 0, "aria-label": `HLO around ${name}` });
  const file = () => saveText(`${name.replace(/[^\w.-]/g, "_")}.hlo.txt`, text.textContent ?? "", "text/plain");
  const copy = copyButton(() => text.textContent ?? "", { label: "Copy", title: "copy all of it", className: "quiet" });
  const save = button("Save", file, { class: "quiet", title: "as a text file" });
  const buttons = [copy, save, button("Close", () => dialog.close(), { class: "quiet" })];
  const dialog = el(
    "dialog",
    { class: "help hlo-dialog", "aria-label": `the program around ${name}` },
    el("h2", { class: "mono" }, name),
    facts,
    text,
    el("div", { class: "editor-buttons" }, ...buttons),
  );
  dialog.addEventListener("close", () => {
    stopped.abort();
    dialog.remove();
  });
  document.body.append(dialog);
  dialog.showModal();
  try {
    const told = await ask(stopped.signal);
    setText(text, told.text);
    setText(facts, factsOf(told));
  } catch (error) {
    if (error.name !== "AbortError") facts.replaceChildren(errorLine(error));
  }
}

function factsOf({ computation, operands, users, computation_left_out: left, note, ...told }) {
  const read = plural(operands.length + told.operands_left_out, "operand");
  const used = plural(users.length + told.users_left_out, "user");
  const more = left > 0 ? ` ${plural(left, "operation")} of ${computation} further away are not shown.` : "";
  return `In ${computation}: ${read}, ${used}.${more} ${note}`;
}
