// @ts-check
// What all ops, and one of them, hold at the end of each step: a bar a step, a button each that goes there.
import { button, el, setText } from "../../../../base/dom.js";
import { swatch } from "../../../../base/figures.js";
import { exactBytes, formatSize } from "../../../../base/format.js";
import { stepBars } from "../layout/step_bars.js";

const HEIGHT = 64;
const BAR_ROOM = 11; // pixels a bar needs at least
const LABEL_ROOM = 62; // pixels a figure needs

export function createStepChart({ onStep }) {
  const caption = el("span", { class: "facts" });
  const key = el("span", { class: "step-key ellipsis" });
  const bars = el("div", { class: "step-bars" });
  const node = el("div", { class: "step-chart" }, el("div", { class: "step-caption" }, caption, key), bars);
  let shown = null;
  const observer = new ResizeObserver(() => shown && draw());
  observer.observe(bars);

  function show(now) {
    shown = now;
    draw();
  }

  function draw() {
    const { steps, all, one, unit } = shown;
    const count = all.length;
    node.hidden = count === 0;
    const width = bars.clientWidth || 900;
    const groups = stepBars(all, Math.floor(width / BAR_ROOM), HEIGHT);
    const isRoomy = width / Math.max(1, groups.length) >= LABEL_ROOM;
    const most = Math.max(...all, 1);
    node.classList.toggle("dense", !isRoomy);
    setText(caption, captionText(groups, steps, isRoomy));
    key.replaceChildren(...(one ? [swatch("accent"), one.op || "(no op name)"] : []));
    const nodes = groups.map((group) => {
      const part = one ? (HEIGHT * one.held_bytes[group.last]) / most : 0;
      return bar(group, { steps, unit, isRoomy, part, one, onStep });
    });
    bars.replaceChildren(...nodes);
  }

  return { node, show, dispose: () => observer.disconnect() };
}

function bar(group, { steps, unit, isRoomy, part, one, onStep }) {
  const name = stepName(group, steps);
  const text = `${name}: ${formatSize(group.value, unit)} (${exactBytes(group.value)})`;
  const ofOne = one ? `, ${one.op} ${formatSize(one.held_bytes[group.last], unit)}` : "";
  const whole = el("span", { class: "step-all" });
  const inner = el("span", { class: "step-one" });
  whole.style.height = `${group.height}px`;
  inner.style.height = `${Math.min(group.height, part)}px`;
  whole.append(inner);
  const node = button("", () => onStep(group.last), { class: "step-bar", title: `${text}${ofOne}` });
  node.setAttribute("aria-label", `${text}${ofOne}`);
  node.append(
    el("span", { class: "step-label" }, isRoomy ? formatSize(group.value, unit) : ""),
    whole,
    el("span", { class: "step-label step-number" }, isRoomy ? `step ${steps.step[group.last]}` : ""),
  );
  return node;
}

function captionText(groups, steps, isRoomy) {
  const what = "Held at the end of each step, of what was allocated since the profile began";
  if (isRoomy || groups.length === 0) return what;
  const per = groups[0].last - groups[0].first + 1;
  const grain = per === 1 ? "" : `, a bar tells the last of ${per}`;
  return `${what}; steps ${steps.step[0]} to ${steps.step[steps.step.length - 1]}${grain}`;
}

function stepName({ first, last }, steps) {
  const name = steps.name[last] || `step ${steps.step[last]}`;
  return first === last ? name : `steps ${steps.step[first]} to ${steps.step[last]}, the last one`;
}
