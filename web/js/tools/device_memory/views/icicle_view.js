// @ts-check
// The icicle: who called whom, by what they hold. Click a frame to zoom into it, its callers stand above as a path.
import { chartSection } from "../../../base/chart_section.js";
import { el, setText } from "../../../base/dom.js";
import { swatch } from "../../../base/figures.js";
import { exactBytes, formatPercent, formatSize, groupDigits, plural } from "../../../base/format.js";
import { requestFrame } from "../../../base/frame.js";
import { createIcicleFrame } from "../../../base/icicle.js";
import { mixRgb, rgbOf } from "../../../base/palette.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { isLibrary, nodeLabel, nodeName, nodeSource } from "../data/model.js";
import { foundTotal } from "../data/search.js";
import { createHoverCard } from "./hover_card.js";

const OWN_SHADES = [0.46, 0.54, 0.62];
const LIBRARY_SHADES = [0.66, 0.71, 0.76];

export function createIcicle(state) {
  const { model } = state;
  const icicle = createIcicleFrame({
    tree: () => model,
    totals: () => state.get().totals,
    root: () => state.get().root,
    hover: () => state.get().hover,
    name: (at) => nodeName(model, at),
    title: (at) => nodeSource(model, at),
    summary: () => summary(state),
    frames: framesOf(state),
    onHover: state.actions.hoverNode,
    onZoom: state.actions.zoomTo,
    card: createHoverCard(state),
  });
  const merged = el("span", { class: "aside", id: "icicle-merged" });
  const found = el("span", { class: "facts", id: "icicle-found", role: "status" });
  const content = [icicle.path, icicle.node];
  const head = [legend(), found, merged];
  const node = chartSection("Stacks, outermost frame on top", head, content, {}, { what: "stacks" });

  function arrange() {
    const count = icicle.arrange();
    setText(merged, count ? `${plural(count, "frame")} under a pixel merged` : "");
    showFound();
    requestFrame(icicle.draw);
  }

  function showFound() {
    const { flags, totals, byCount, unit } = state.get();
    if (!flags) return setText(found, "");
    const sum = foundTotal(model, flags, totals);
    const share = totals[0] > 0 ? ` (${formatPercent(sum / totals[0])})` : "";
    setText(found, `found: ${byCount ? groupDigits(sum) : formatSize(sum, unit)}${share}`);
  }

  const dispose = together(
    onResize(node, arrange),
    inFrame(state, ["root", "totals", "flags", "unit"], arrange),
    inFrame(state, ["hover"], icicle.draw),
  );
  return { node, start: arrange, redraw: icicle.draw, dispose };
}

/** The user's own frames in the accent's hue, those of libraries grey; shades keep neighbours apart. */
function framesOf(state) {
  const { model } = state;
  return {
    text: (at) => nodeLabel(model, at),
    color(at, colors) {
      const fn = model.functionOf[at];
      const library = isLibrary(model, fn);
      const shades = library ? LIBRARY_SHADES : OWN_SHADES;
      return mixRgb(rgbOf(library ? colors["ink-3"] : colors.accent), rgbOf(colors.bg), shades[fn % shades.length]);
    },
    isFaded(at) {
      const { flags } = state.get();
      return flags !== null && flags[model.functionOf[at]] === 0;
    },
  };
}

function legend() {
  const key = (name, text) => el("span", { class: "icicle-key" }, swatch(name), text);
  return el("span", { class: "icicle-keys" }, key("frame-own", "your code"), key("frame-library", "libraries"));
}

function summary(state) {
  const { figures, root } = state.get();
  const { model } = state;
  return (
    `Icicle of stacks below ${nodeName(model, root)}: ${exactBytes(figures.totalBytes[root])} in ` +
    `${plural(figures.totalCount[root], "object")}. Arrow keys walk the frames, Enter zooms, Backspace zooms out. ` +
    "The table below lists the functions."
  );
}
