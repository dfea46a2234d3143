// @ts-check
// "Who holds it" by stack or scope, as an icicle. The frame on top is the pinned group, with all that goes on from it.
import { el } from "../../../base/dom.js";
import { exactBytes, formatSize, plural } from "../../../base/format.js";
import { shareText } from "../../../base/cells.js";
import { createIcicleFrame } from "../../../base/icicle.js";
import { mixRgb, rgbOf } from "../../../base/palette.js";
import { inFrame, onResize, together } from "../../../base/upkeep.js";
import { isPath } from "../data/group_paths.js";
import { groupTree, nodeOfKey } from "../data/group_tree.js";

const SHADES = [0.42, 0.52, 0.62];
const NO_TREE = groupTree({ by: "stack", rule: null, lineShare: null, step: 0, bytes: 0, unknownBytes: 0, rows: [] });

/** @param {ReturnType<import("../group_feed.js").createGroupFeed>} feed */
export function createWhoIcicle(state, feed) {
  const told = el("p", { class: "who-told ellipsis", role: "status" });
  let tree = NO_TREE;
  const nodeOf = (key) => (key === null ? null : tree.keys.indexOf(key));
  const icicle = createIcicleFrame({
    tree: () => tree,
    totals: () => tree.bytes,
    root: () => nodeOfKey(tree, state.get().group),
    hover: () => nodeOf(state.get().hoverGroup),
    name: (at) => lastName(tree.names[at]),
    title: (at) => tree.keys[at],
    summary: () => summary(tree, nodeOfKey(tree, state.get().group)),
    frames: {
      text: (at) => `${tree.names[at]}   ${formatSize(tree.bytes[at], state.get().unit)}`,
      color: (at, colors) => mixRgb(rgbOf(colors.accent), rgbOf(colors.bg), SHADES[at % SHADES.length]),
      isFaded: () => false,
    },
    onHover: (at) => state.actions.hoverGroup(at === null ? null : tree.keys[at]),
    onZoom: (at) => state.actions.zoomGroup(tree.keys[at] || null),
  });
  const node = el("div", { class: "who-icicle", hidden: true }, icicle.path, el("div", {}, icicle.node), told);

  function arrange() {
    const { groups } = feed.get();
    node.hidden = groups === null || !isPath(groups.by);
    if (node.hidden) return;
    tree = groupTree(groups);
    icicle.arrange();
    draw();
  }

  function draw() {
    if (node.hidden) return;
    icicle.draw();
    const at = nodeOf(state.get().hoverGroup) ?? nodeOfKey(tree, state.get().group);
    told.textContent = at > 0 ? toldOf(tree, at, state.get().unit) : "Click a frame to see what goes on from it alone.";
  }

  const dispose = together(
    onResize(node, arrange),
    inFrame(feed, ["groups"], arrange),
    inFrame(state, ["group", "unit"], arrange),
    inFrame(state, ["hoverGroup"], draw),
  );
  return { node, redraw: draw, dispose };
}

const lastName = (names) => names.slice(names.lastIndexOf(" › ") + 1).replace("› ", "");

function toldOf(tree, at, unit) {
  const share = shareText(tree.bytes[at] / (tree.bytes[0] || 1));
  return `${tree.names[at]}:  ${formatSize(tree.bytes[at], unit)}, ${share}`;
}

function summary(tree, root) {
  return (
    `Icicle of who holds it below ${tree.names[root]}: ${exactBytes(tree.bytes[root])} in ` +
    `${plural(tree.end[root] - root - 1, "frame")}. Arrow keys walk the frames, Enter zooms, Backspace zooms out. ` +
    "The table below lists them."
  );
}
