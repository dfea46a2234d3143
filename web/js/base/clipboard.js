// @ts-check
// Copying, also where the page is not a secure context (http://tpu-vm:6006) and navigator.clipboard is missing.
import { button } from "./dom.js";

export async function copyText(text) {
  if (navigator.clipboard && window.isSecureContext) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      /* refused: try the old way */
    }
  }
  return copyBySelection(text);
}

function copyBySelection(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "off-screen";
  document.body.append(area);
  area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}

/** A small button that copies what `getText` gives and says so for a moment. */
export function copyButton(getText, { label = "copy", title = "", className = "copy" } = {}) {
  const node = button(
    label,
    async () => {
      const done = await copyText(await getText());
      node.textContent = done ? "copied" : "not allowed";
      setTimeout(() => {
        node.textContent = label;
      }, 1200);
    },
    { class: className, title: title || null, "aria-label": title || null },
  );
  return node;
}
