// @ts-check
// Light, dark, or what the system says; remembered on this browser.
import { button } from "../base/dom.js";
import { forgetPalette } from "../base/palette.js";
import { remember, remembered } from "../base/remembered.js";

const KEY = "theme";
const CHOICES = ["auto", "light", "dark"];
const SIGNS = { auto: "◐ auto", light: "○ light", dark: "● dark" };

/** @returns {{node: HTMLElement, next: () => void}} `onChange` runs when colours have changed */
export function createThemeSwitch(onChange) {
  let choice = stored();
  const node = button("", next, { class: "quiet", id: "theme" });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    forgetPalette();
    onChange();
  });

  function apply() {
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    node.textContent = SIGNS[choice];
    node.setAttribute("aria-label", `colours: ${choice}; switch`);
    node.title = `Colours: ${choice}`;
    forgetPalette();
  }

  function next() {
    choice = CHOICES[(CHOICES.indexOf(choice) + 1) % CHOICES.length];
    remember(KEY, choice);
    apply();
    onChange();
  }

  apply();
  return { node, next };
}

function stored() {
  const value = remembered(KEY) ?? "";
  return CHOICES.includes(value) ? value : "auto";
}
