// @ts-check
// How the breakdown is shown: the smallest row worth a line, and whether ops are grouped by their path; in the address.
import { el } from "../../../../base/dom.js";
import { parseSize } from "../../../../base/size_text.js";

/** XProf leaves out everything below 1 MiB and does not say how much that is. */
const MINIMA = [
  ["0", "all sizes"],
  ["1KiB", "1 KiB and more"],
  ["64KiB", "64 KiB and more"],
  ["1MiB", "1 MiB and more (XProf)"],
  ["16MiB", "16 MiB and more"],
  ["256MiB", "256 MiB and more"],
];

/** @param {any} params @param {() => void} onChange */
export function createBreakdownOptions(params, onChange) {
  const minimum = el(
    "select",
    {
      class: "quiet",
      "aria-label": "smallest total of a row",
      title: "Rows (and groups) of a smaller total are left out, counted and summed below",
      on: { change: () => params.set({ min: minimum.value === "0" ? null : minimum.value }) },
    },
    ...MINIMA.map(([value, label]) => el("option", { value }, label)),
  );
  const grouped = el("input", {
    type: "checkbox",
    on: { change: () => params.set({ group: grouped.checked ? "path" : null }) },
  });
  const node = el(
    "span",
    { class: "breakdown-options" },
    minimum,
    el("label", { class: "check", title: "a/b/c within a/b within a, with sums" }, grouped, "group by op path"),
  );

  /** A size that is not in the list is one more of it. */
  function show() {
    const { min, group } = params.get();
    const isSize = min !== null && parseSize(min) !== null;
    const isListed = [...minimum.options].some((one) => one.value === min);
    if (isSize && !isListed) minimum.append(el("option", { value: min }, `${min} and more`));
    minimum.value = isSize ? min : "0";
    grouped.checked = group === "path";
  }

  const dispose = params.watch(["min", "group"], () => {
    show();
    onChange();
  });
  show();
  return { node, get: () => ({ minimum: parseSize(minimum.value) ?? 0, isGrouped: grouped.checked }), dispose };
}
