// @ts-check
// The list of keys and of what the mouse does.
import { button, el } from "../base/dom.js";

export function createHelp(keys) {
  const body = el("div", { class: "help-columns" });
  const dialog = el(
    "dialog",
    { class: "help", "aria-label": "Keys" },
    body,
    button("Close", () => dialog.close(), { class: "quiet" }),
  );
  document.body.append(dialog);

  function open() {
    const groups = keys.groups().map((group) => section(group.title, group.bindings.map(keyRow)));
    body.replaceChildren(
      ...groups,
      section(
        "Mouse",
        keys.groups().flatMap((group) => group.mouse.map(([what, does]) => row(el("span", {}, what), does))),
      ),
    );
    dialog.showModal();
  }

  return { open };
}

function section(title, rows) {
  return el("section", {}, el("h3", {}, title), el("dl", { class: "keys" }, ...rows.flat()));
}

function keyRow(binding) {
  const names = binding.shown ? [binding.shown] : binding.keys;
  return row(el("span", {}, ...names.map((key) => el("kbd", {}, key))), binding.label);
}

function row(term, text) {
  return [el("dt", {}, term), el("dd", {}, text)];
}
