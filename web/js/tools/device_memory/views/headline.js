// @ts-check
// The first line: how much is held, by what, and how the stacks are shown.
import { button, el } from "../../../base/dom.js";
import { plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { viewName } from "../../../base/view_name.js";

export function createHeadline(state, params, reply) {
  const figures = el("div", { class: "headline-figures" });
  const frames = toggle("your code only", "Leave out the frames of libraries: what they hold is their caller's", () =>
    params.set({ frames: params.get().frames === "own" ? null : "own", zoom: null }),
  );
  const measure = toggle("by count", "Widths by the number of arrays and executables instead of their bytes", () =>
    params.set({ measure: params.get().measure === "count" ? null : "count" }),
  );
  const node = el("div", { class: "headline" }, figures, frames, measure);

  function show() {
    const { figures: now, byCount, unit, choice } = state.get();
    const where = choice.device === null ? "" : ` on ${choice.device || "no device that is told"}`;
    figures.replaceChildren(
      el("strong", {}, sizeFigure(now.totalBytes[0], unit)),
      ` held in ${plural(now.totalCount[0], choice.kind || "object")}${where}`,
    );
    frames.setAttribute("aria-pressed", String(reply.frames_shown === "own"));
    measure.setAttribute("aria-pressed", String(byCount));
    measure.disabled = byCount && now.totalBytes[0] === 0;
  }

  const stop = state.watch(["figures", "byCount", "unit"], show);
  show();
  return { node, name: profileName(reply), dispose: stop };
}

function toggle(label, title, onClick) {
  return button(label, onClick, { class: "quiet small toggle", title });
}

function profileName(reply) {
  const own = reply.session === reply.file || reply.session.endsWith(`/${reply.file}`);
  const title = `${reply.session} / ${reply.file}`;
  return viewName(own ? null : reply.session, own ? reply.session : reply.file, "device memory", title);
}
