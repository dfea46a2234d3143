// @ts-check
// Where the log goes in: a text field, a file, an example; once it is read, one line that says what was read.
import { fetchDevices } from "../../../api.js";
import { isInFragment } from "../../../base/address.js";
import { button, el, leaveField, setText } from "../../../base/dom.js";
import { formatSize, plural } from "../../../base/format.js";
import { createCapacityField } from "../../../base/param_field.js";
import { together } from "../../../base/upkeep.js";
import { isCut, sourceOfBlob, sourceOfText } from "../data/source.js";

const PLACEHOLDER = `Paste the error here, or the whole log: Ctrl+V

jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: …`;

export function createInput(state, params, actions) {
  const field = textField(state, send);
  const file = filePicker(actions.explain);
  const capacity = createCapacityField(params, {
    askDevices: fetchDevices,
    id: "oom-capacity",
    placeholder: "as it says",
    title: "Memory of the device, such as 15.75GiB, where the message does not tell it",
  });
  const form = el(
    "div",
    { class: "oom-form" },
    field,
    el(
      "div",
      { class: "oom-buttons" },
      button("Explain", send, { class: "oom-send", title: "Ctrl+Enter" }),
      button("Open a file…", () => file.click()),
      button("Try an example", actions.example),
      capacity.node,
      el(
        "span",
        { class: "note" },
        "Or drop a file anywhere. The text goes to this hbmview server, which keeps nothing of it; the lines of its " +
          "messages go into this page's address, so that a link holds the answer.",
      ),
    ),
    file,
  );
  const said = el("p", { class: "oom-said", role: "status" });
  const linked = el("span", { class: "note" }, "The page's link holds it: a reload or a colleague sees this answer.");
  const unlinked = el("span", { class: "note" }, "Too long for a link: a reload forgets it.");
  const line = el(
    "div",
    { class: "oom-line" },
    said,
    linked,
    unlinked,
    button("Show the text", () => state.set({ isEditing: true }), { class: "quiet small", id: "oom-edit" }),
    isInFragment() ? null : button("Another message", another, { class: "quiet small", id: "oom-another" }),
  );
  const node = el("section", { class: "oom-input", "aria-label": "the message" }, form, line);

  function send() {
    if (field.value.trim() === "") return field.focus();
    actions.explain(sourceOfText(field.value));
  }

  function another() {
    actions.clear();
    field.focus();
  }

  function show() {
    const { source, reply, error, link, isBusy, isEditing, draft } = state.get();
    const found = reply?.messages?.length ?? 0;
    form.hidden = found > 0 && !isEditing;
    line.hidden = source === null;
    line.querySelector("#oom-edit").hidden = source === null || source.text === null || !form.hidden;
    if (field.value !== draft) field.value = draft;
    setText(said, source === null ? "" : saidOf(source, { found, isBusy, failed: error !== null }));
    linked.hidden = found === 0 || link === null;
    unlinked.hidden = found === 0 || link !== null || isInFragment();
  }

  const stop = state.watch(["source", "reply", "error", "link", "isBusy", "isEditing", "draft"], show);
  show();
  return {
    node,
    start() {
      if (state.get().source === null) field.focus({ preventScroll: true });
    },
    focus() {
      if (form.hidden) state.set({ isEditing: true });
      field.focus();
    },
    dispose: together(stop, capacity.dispose),
  };
}

function textField(state, send) {
  return el("textarea", {
    id: "oom-text",
    class: "mono",
    rows: 7,
    spellcheck: "false",
    autocomplete: "off",
    wrap: "off",
    "aria-label": "out-of-memory message or log",
    placeholder: PLACEHOLDER,
    on: {
      input: (event) => state.set({ draft: event.target.value }),
      keydown: (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
        if (event.key === "Escape") leaveField(event.target);
      },
    },
  });
}

function filePicker(explain) {
  const field = el("input", { type: "file", hidden: true, id: "oom-file", "aria-label": "log file" });
  field.addEventListener("change", () => {
    if (field.files[0]) explain(sourceOfBlob(field.files[0], field.files[0].name));
    field.value = "";
  });
  return field;
}

function saidOf(source, { found, isBusy, failed }) {
  const size = formatSize(source.bytes);
  const cut = isCut(source) ? `, of which the last ${formatSize(source.sentBytes)} were sent` : "";
  if (isBusy) return `reading ${source.name}, ${size}${cut} …`;
  if (failed) return `${source.name}, ${size}${cut}`;
  return `${source.name}, ${size}${cut}: ${found === 0 ? "no message" : plural(found, "message")}`;
}
