// @ts-check
// Something that is a click away, with its opener elsewhere; whether it is open is remembered.
import { button, setText } from "./dom.js";
import { remember, remembered } from "./remembered.js";

/** @param {string} id of the opener, and what is remembered @param {string} label @param {HTMLElement} body */
export function createFold(id, label, body) {
  const opener = button("", toggle, { class: "quiet fold", id: `${id}-fold`, "aria-controls": `${id}-body` });
  body.id = `${id}-body`;
  let isOpen = remembered(id) === "open";

  function toggle() {
    isOpen = !isOpen;
    remember(id, isOpen ? "open" : null);
    show();
  }

  function show() {
    opener.setAttribute("aria-expanded", String(isOpen));
    setText(opener, `${label} ${isOpen ? "▾" : "▸"}`);
    body.hidden = !isOpen;
  }

  show();
  return { opener, body };
}
