// @ts-check
// A text, a picture or a page as a file in the browser's downloads.
import { el } from "./dom.js";

const KEEP_MS = 10000; // the browser reads the blob after the click

export function saveText(name, text, type = "text/csv") {
  saveBlob(name, new Blob([text], { type }));
}

export function saveBlob(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = el("a", { href: url, download: name, hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), KEEP_MS);
}

/** "tf_leak vm GPU_0_bfc breakdown.csv": what the parts are called, without what file systems mind. */
export function fileName(...parts) {
  const name = parts.filter(Boolean).join(" ");
  return name.replace(/[^\p{L}\p{N} ._@()+-]/gu, "_").slice(0, 180);
}
