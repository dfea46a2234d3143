// @ts-check
// Paste and drop, anywhere on the page while the tool is open. Fields keep their own pasting.
import { isTyping } from "../../base/dom.js";
import { SHOWN_MAX, sourceOfBlob, sourceOfText } from "./data/source.js";

export function createIntake(state, explain) {
  const stop = new AbortController();
  const listen = (type, run) => document.addEventListener(type, run, { signal: stop.signal });
  const showTarget = (isOver) => document.body.classList.toggle("oom-over", isOver);

  listen("paste", (event) => {
    const source = sourceOf(event.clipboardData, "pasted text");
    if (source === null || keepsItself(event, source, state)) return;
    event.preventDefault();
    explain(source);
  });
  listen("dragover", (event) => {
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    showTarget(true);
  });
  listen("dragleave", (event) => {
    if (event.relatedTarget === null) showTarget(false);
  });
  listen("drop", (event) => {
    event.preventDefault();
    showTarget(false);
    const source = sourceOf(event.dataTransfer, "dropped text");
    if (source !== null) explain(source);
  });

  return {
    dispose() {
      stop.abort();
      showTarget(false);
    },
  };
}

function sourceOf(transfer, name) {
  const file = transfer?.files?.[0];
  if (file) return sourceOfBlob(file, file.name);
  const text = transfer?.getData("text/plain") ?? "";
  return text.trim() === "" ? null : sourceOfText(text, name);
}

/** A field other than the log's, or the log's while a text in it is edited. */
function keepsItself(event, source, state) {
  if (!isTyping(event.target)) return false;
  if (event.target.id !== "oom-text") return true;
  return source.text !== null && source.text.length <= SHOWN_MAX && state.get().draft.trim() !== "";
}
