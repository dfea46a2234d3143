// @ts-check
// Bytes, MiB, GiB, or whatever fits each column.
import { el } from "../base/dom.js";
import { UNIT_MODES } from "../base/format.js";

export function createUnitSwitch(params) {
  const select = el(
    "select",
    {
      id: "unit",
      "aria-label": "unit of sizes",
      title: "Unit of sizes",
      class: "quiet",
      on: { change: () => params.set({ unit: select.value === "auto" ? null : select.value }) },
    },
    ...UNIT_MODES.map((mode) => el("option", { value: mode }, mode === "auto" ? "auto unit" : mode)),
  );
  const show = () => {
    select.value = unitMode(params.get());
  };
  params.watch(["unit"], show);
  show();
  return select;
}

export function unitMode({ unit }) {
  return UNIT_MODES.includes(unit) ? unit : "auto";
}
