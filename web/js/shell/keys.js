// @ts-check
/**
 * The keyboard. The shell and the tools register what their keys do; "?" lists all that are registered.
 * @typedef {{keys: string[], label: string, run: (event: KeyboardEvent) => void, shown?: string}} Binding
 */
import { isTyping } from "../base/dom.js";

export function createKeys() {
  /** @type {Set<{title: string, bindings: Binding[], mouse: string[][]}>} */
  const groups = new Set();

  /** @param {string[][]} mouse what the mouse does there: [gesture, effect] */
  function add(title, bindings, mouse = []) {
    const group = { title, bindings, mouse };
    groups.add(group);
    return () => groups.delete(group);
  }

  function onKeyDown(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (document.querySelector("dialog[open]")) return;
    if (isTyping(event.target) && event.key !== "Escape") return;
    const binding = find(event.key);
    if (!binding) return;
    binding.run(event);
    event.preventDefault();
  }

  function find(key) {
    for (const group of groups) {
      for (const binding of group.bindings) if (binding.keys.includes(key)) return binding;
    }
    return null;
  }

  document.addEventListener("keydown", onKeyDown);
  return { add, groups: () => [...groups] };
}
