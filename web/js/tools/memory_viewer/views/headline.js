// @ts-check
// The first line: which program, how much memory at its peak, and whether that fits.
import { el, setText } from "../../../base/dom.js";
import { formatSize, exactBytes } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { parseSize } from "../../../base/size_text.js";
import { fitOf } from "../data/composition.js";

export function createHeadline(state, params, view) {
  const { field, stop: stopField } = capacityField(params);
  const figures = el("div", { class: "headline-figures" });
  const verdict = el("span", { class: "verdict", role: "status" });
  const name = programName(view);
  const node = el(
    "div",
    { class: "headline" },
    figures,
    el("label", { class: "headline-capacity" }, "of ", field),
    verdict,
  );

  function show() {
    const { unit, capacity } = state.get();
    figures.replaceChildren(
      el("strong", {}, sizeFigure(view.totals.peak_bytes, unit)),
      " peak, ",
      sizeFigure(view.totals.total_allocation_bytes, unit),
      " total",
    );
    showVerdict(verdict, fitOf(view.totals, capacity), unit);
  }

  const stop = state.watch(["unit", "capacity"], show);
  show();
  return {
    name,
    node,
    dispose() {
      stop();
      stopField();
    },
  };
}

function programName(view) {
  const host = view.host ? `, host ${view.host}` : "";
  return el(
    "h1",
    { class: "headline-name ellipsis", title: `${view.session} / ${view.module}${host}` },
    el("span", { class: "headline-session" }, `${view.session} / `),
    view.module,
    el("span", { class: "headline-space" }, ` ${view.memory_space_name}`),
  );
}

/** What the device has; kept as typed, since "15.75GiB" says more than its bytes. */
function capacityField(params) {
  const field = el("input", {
    type: "text",
    id: "capacity",
    size: 9,
    placeholder: "capacity",
    spellcheck: "false",
    autocomplete: "off",
    title: "Memory of the device, such as 15.75GiB: draws the line and says whether the program fits",
  });
  const isSize = (text) => parseSize(text) !== null;
  const mark = (text) => field.setAttribute("aria-invalid", String(text !== "" && !isSize(text)));
  const show = () => {
    if (document.activeElement === field) return;
    field.value = params.get().capacity ?? "";
    mark(field.value);
  };
  /** What is no size is marked, and no verdict of an earlier one stays beside it. */
  const take = () => {
    const text = field.value.trim();
    mark(text);
    params.set({ capacity: isSize(text) ? text.replaceAll(" ", "") : null });
  };
  field.addEventListener("change", take);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") take();
    if (event.key === "Escape") {
      show();
      field.blur();
    }
  });
  const stop = params.watch(["capacity"], show);
  show();
  return { field, stop };
}

function showVerdict(node, fit, unit) {
  const size = formatSize(fit.byBytes, unit);
  node.className = `verdict ${fit.state}`;
  node.title = fit.byBytes ? exactBytes(fit.byBytes) : "";
  setText(
    node,
    {
      unknown: "",
      overflow: `OVERFLOW by ${size}`,
      fragmented: `over by ${size} with fragmentation`,
      fits: `fits, ${size} free`,
    }[fit.state],
  );
}
