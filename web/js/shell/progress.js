// @ts-check
// The thin line at the top: what is being read. It shows only when the answer takes longer than a glance.
import { el, setText } from "../base/dom.js";

const PATIENCE_MS = 100;

export function createProgress(parent) {
  const text = el("span", { class: "progress-text" });
  const line = el(
    "div",
    { class: "progress", role: "status", hidden: true },
    el("div", { class: "progress-line" }),
    text,
  );
  parent.append(line);
  const running = new Map();
  let timer = 0;

  function refresh() {
    const labels = [...running.values()];
    line.hidden = labels.length === 0;
    setText(text, labels.at(-1) ?? "");
  }

  /** Shows `label` while the promise is pending. */
  async function during(label, promise) {
    const key = Symbol(label);
    running.set(key, label);
    if (!timer)
      timer = window.setTimeout(() => {
        timer = 0;
        refresh();
      }, PATIENCE_MS);
    try {
      return await promise;
    } finally {
      running.delete(key);
      if (!timer) refresh();
    }
  }

  return { during };
}
