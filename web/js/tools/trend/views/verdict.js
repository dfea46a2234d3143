// @ts-check
// The first lines: where the peak jumped and by whom, how much is still being read; and where the chosen point leads.
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, plural } from "../../../base/format.js";
import { comparisonOf, pointAt, viewOf } from "../data/points.js";

const TOOL_NAMES = {
  memory_viewer: "Memory Viewer",
  memory_profile: "Memory Profile",
  device_memory: "Device Memory",
};

/** @param {any} state @param {(address: any) => void} go */
export function createVerdict(state, go) {
  let reply = /** @type {any} */ (null);
  let points = [];
  const said = el("span", { class: "trend-verdict", role: "status" });
  const rest = el("span", { class: "facts" });
  const jump = button("", () => go(comparison(jumpPoint())), { class: "link", id: "trend-jump" });
  const opens = button("", () => go(viewOf(chosen(), reply.tool, reply.memory_space)), { class: "link" });
  const compares = button("", () => go(comparison(chosen())), { class: "link", id: "trend-compare" });
  const of = el("span", {});
  const links = el("div", { class: "trend-links", hidden: true }, of, opens, compares);
  const node = el("div", {}, el("div", { class: "headline" }, said, jump, rest), links);

  const chosen = () => pointAt(points, state.get().chosen);
  const jumpPoint = () => (reply.jump ? points[reply.jump.after.point] : null);
  const isProgram = () => reply.tool === "memory_viewer";
  const comparison = (point) => comparisonOf(point, reply.memory_space);

  function show(nextReply, nextPoints) {
    [reply, points] = [nextReply, nextPoints];
    setText(said, sentence(reply));
    jump.hidden = !jumpPoint() || !isProgram();
    setText(jump, "Compare the two");
    setText(rest, restText(reply));
    showLinks();
  }

  function showLinks() {
    const point = reply && chosen();
    links.hidden = !point || point.peak === null;
    if (!point || point.peak === null) return;
    setText(of, `${point.label} (${formatSize(point.peak, state.get().unit)}): `);
    setText(opens, `open in ${TOOL_NAMES[reply.tool]}`);
    compares.hidden = !isProgram() || !point.before;
    setText(compares, point.before ? `compare with ${point.before.label}` : "");
  }

  /** Enter: what changed, else the point itself. */
  function open() {
    const point = chosen();
    if (!point || point.peak === null) return;
    go((isProgram() && comparison(point)) || viewOf(point, reply.tool, reply.memory_space));
  }

  const dispose = state.watch(["chosen", "unit"], showLinks);
  return { node, show, open, dispose };
}

/** Terminals' arrows as the page has them, which no line ends within. */
const withArrows = (text) => text.replaceAll(" -> ", "\u00a0→ ");

function sentence(reply) {
  if (reply.jump) return `Largest jump: ${withArrows(reply.jump.text)}`;
  if (!reply.complete) return `Reading the sessions: ${reply.ready} known, ${reply.pending} more to come.`;
  if (reply.ready === 0) return "No session tells the memory of this.";
  if (reply.ready === 1) return "One session only: nothing to compare.";
  return "The peak never grew from one session to the next.";
}

function restText({ sessions, ready, pending, left_out: left }) {
  const unknown = sessions - ready - pending;
  const parts = [`${ready} of ${plural(sessions, "session")}`];
  if (unknown) parts.push(`${unknown} without it or not readable, below`);
  if (left) parts.push(`${plural(left, "older one")} left out`);
  return parts.join("; ");
}
