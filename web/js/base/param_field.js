// @ts-check
// A text field for one word of the address, kept as it was typed: "15.75GiB" says more than its bytes.
import { aboutDevice, deviceNamed } from "./devices.js";
import { el, leaveField } from "./dom.js";
import { parseSize } from "./size_text.js";

/**
 * @param {any} params the page's (shell/params.js)
 * @param {string} key
 * @param {{id: string, label: string, title: string, size: number, placeholder?: string,
 *          accepts: (text: string) => boolean, clears?: boolean, wordOf?: (text: string) => string,
 *          list?: string, learn?: () => Promise<void>}} options what is not accepted is marked, and leaves the word as
 *     it is or `clears` it; `wordOf`: what is kept in the address of what was typed; `list` names its suggestions;
 *     `learn`: what has to be known of anything but a size
 */
export function createParamField(params, key, options) {
  const { label, accepts, clears = false, wordOf = asTyped, learn, ...attributes } = options;
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

  async function take() {
    if (learn && parseSize(field.value) === null && field.value.trim() !== "") await learn();
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
    if (event.key === "Escape") leaveField(field);
  }

  const dispose = params.watch([key], show);
  show();
  return { node: el("label", { class: "param-field" }, `${label} `, field), field, dispose };
}

function asTyped(text) {
  return text.replaceAll(" ", "");
}

/**
 * What the device has, as a size or by its name. What is neither leaves no verdict of an earlier one beside it.
 * `askDevices`: the server's table, asked for once somebody is about to type.
 */
export function createCapacityField(params, { id, label = "capacity", placeholder = "15.75GiB", title, askDevices }) {
  /** @type {import("./devices.js").Device[]} */
  let known = [];
  const wordIn = (text) =>
    parseSize(text) === null ? (deviceNamed(known, text)?.capacity ?? null) : asTyped(text);
  const accepts = (text) => wordIn(text) !== null;
  const wordOf = (text) => wordIn(text) ?? asTyped(text);
  const list = el("datalist", { id: `${id}-devices` });
  const options = { id, label, placeholder, title, size: 9, accepts, wordOf, clears: true, list: list.id, learn };
  const field = createParamField(params, "capacity", options);
  field.node.append(list);
  field.field.addEventListener("focus", learn, { once: true });
  return field;

  async function learn() {
    if (known.length > 0) return;
    known = (await askDevices().catch(() => ({ devices: [] }))).devices;
    list.replaceChildren(...known.map((one) => el("option", { value: one.name, label: aboutDevice(one) })));
  }
}
