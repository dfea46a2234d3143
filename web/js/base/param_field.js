// @ts-check
// A text field for one word of the address, kept as it was typed: "15.75GiB" says more than its bytes.
import { aboutDevice, deviceNamed, DEVICES } from "./devices.js";
import { el } from "./dom.js";
import { parseSize } from "./size_text.js";

/**
 * @param {any} params the page's (shell/params.js)
 * @param {string} key
 * @param {{id: string, label: string, title: string, size: number, placeholder?: string,
 *          accepts: (text: string) => boolean, clears?: boolean, wordOf?: (text: string) => string,
 *          list?: string}} options what is not accepted is marked, and leaves the word as it is or `clears` it;
 *     `wordOf`: what is kept in the address of what was typed; `list` names its suggestions
 */
export function createParamField(params, key, { label, accepts, clears = false, wordOf = asTyped, ...attributes }) {
  const field = el("input", {
    type: "text",
    spellcheck: "false",
    autocomplete: "off",
    ...attributes,
    on: { change: take, keydown: onKeyDown },
  });

  function isTaken() {
    const text = field.value.trim();
    const taken = text === "" || accepts(text);
    field.setAttribute("aria-invalid", String(!taken));
    return taken;
  }

  function take() {
    const taken = isTaken();
    if (taken) field.value = wordOf(field.value);
    if (taken || clears) params.set({ [key]: (taken && field.value) || null });
  }

  function show() {
    if (document.activeElement === field) return;
    field.value = params.get()[key] ?? "";
    isTaken();
  }

  function onKeyDown(event) {
    if (event.key === "Enter") take();
    if (event.key === "Escape") field.blur();
  }

  const dispose = params.watch([key], show);
  show();
  return { node: el("label", { class: "param-field" }, `${label} `, field), field, dispose };
}

function asTyped(text) {
  return text.replaceAll(" ", "");
}

/** What the device has, as a size or by its name. What is neither leaves no verdict of an earlier one beside it. */
export function createCapacityField(params, { id, label = "capacity", placeholder = "15.75GiB", title }) {
  const accepts = (text) => capacityWord(text) !== null;
  const wordOf = (text) => capacityWord(text) ?? asTyped(text);
  const list = `${id}-devices`;
  const options = { id, label, placeholder, title, size: 9, accepts, wordOf, clears: true, list };
  const field = createParamField(params, "capacity", options);
  const names = DEVICES.map((device) => el("option", { value: device.name, label: aboutDevice(device) }));
  field.node.append(el("datalist", { id: list }, ...names));
  return field;
}

/** @returns {string | null} a size as it was typed, or that of the device that was named */
function capacityWord(text) {
  return parseSize(text) === null ? (deviceNamed(text)?.capacity ?? null) : asTyped(text);
}
