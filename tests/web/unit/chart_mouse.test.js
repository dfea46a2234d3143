import { test } from "node:test";
import assert from "node:assert/strict";
import { attachChartMouse } from "../../../web/js/base/chart_mouse.js";
import { range } from "../../../web/js/base/range.js";

/** A chart of 100 x 50 pixels that shows 0 to 1000 and 0 to 500: ten of the data a pixel. */
function createChart(options = {}) {
  const listeners = new Map();
  const calls = [];
  const node = {
    clientWidth: 100,
    clientHeight: 50,
    addEventListener: (type, run) => listeners.set(type, run),
    getBoundingClientRect: () => ({ left: 0, top: 0 }),
    setPointerCapture() {},
  };
  const actions = Object.fromEntries(
    ["pan", "zoom", "showRange", "showAll"].map((name) => [name, (...args) => calls.push([name, ...args])]),
  );
  const view = () => ({ x: range(0, 1000), y: range(0, 500) });
  attachChartMouse(node, { view, isFull: () => false, actions, ...options });
  const send = (type, x, y, more = {}) =>
    listeners.get(type)({ clientX: x, clientY: y, button: 0, pointerId: 1, timeStamp: 1e6, ...more });
  const drag = (from, to, shiftKey = false) => {
    send("pointerdown", ...from, { shiftKey });
    send("pointermove", ...to, { shiftKey });
    send("pointerup", ...to, { shiftKey });
  };
  const wheel = (more) => send("wheel", 50, 10, { deltaMode: 0, deltaX: 0, deltaY: 0, preventDefault() {}, ...more });
  return { calls, send, drag, wheel };
}

test("the data moves with the mouse: to the right, what was before comes into view, down, what was above", () => {
  const both = createChart({ pansY: true });
  both.drag([20, 20], [30, 25]);
  assert.deepEqual(both.calls, [["pan", -100, 50]]);
  const across = createChart();
  across.drag([20, 20], [30, 25]);
  assert.deepEqual(across.calls, [["pan", -100, 0]]);
});

test("a place is told in the data, y from below", () => {
  const places = [];
  const { send } = createChart({ onHover: (at) => places.push(at), onClick: (at) => places.push(at) });
  send("pointermove", 10, 10);
  send("pointerdown", 10, 50);
  send("pointerup", 10, 50);
  send("pointerleave", 0, 0);
  assert.deepEqual(places, [{ x: 100, y: 400 }, { x: 100, y: 0 }, null]);
});

test("what is marked is zoomed into; a flat mark means x only, a short one nothing", () => {
  const marks = [];
  const chart = createChart({ marksY: true, onMark: (mark) => marks.push(mark) });
  chart.drag([80, 5], [20, 45], true);
  assert.deepEqual(chart.calls.pop(), ["showRange", range(200, 800), range(50, 450)]);
  assert.deepEqual(marks, [{ x0: 20, x1: 80, y0: 5, y1: 45 }, null]);
  chart.drag([20, 20], [80, 30], true);
  assert.deepEqual(chart.calls.pop(), ["showRange", range(200, 800), null]);
  assert.deepEqual(marks.slice(2), [{ x0: 20, x1: 80, y0: 0, y1: 50 }, null]);
  chart.drag([20, 5], [23, 45], true);
  assert.deepEqual(chart.calls, []);
});

test("a plain drag zooms where nothing can be panned, and pans where something can", () => {
  let isFull = true;
  const chart = createChart({ pansY: true, marksY: true, onMark: () => {}, isFull: () => isFull });
  chart.drag([80, 5], [20, 45]);
  assert.deepEqual(chart.calls.pop(), ["showRange", range(200, 800), range(50, 450)]);
  isFull = false;
  chart.drag([20, 20], [30, 25]);
  assert.deepEqual(chart.calls.pop(), ["pan", -100, 50]);
  const unmarked = createChart({ isFull: () => true });
  unmarked.drag([20, 20], [30, 25]);
  assert.deepEqual(unmarked.calls, [["pan", -100, 0]], "a chart without marks has nothing but panning");
});

test("the wheel zooms about the place under it, on the axes that its keys say; sideways it pans", () => {
  const { calls, wheel } = createChart({ zooms: (event) => (event.altKey ? "y" : "xy") });
  wheel({ deltaY: -100 });
  const [name, axes, at, factor] = calls.pop();
  assert.deepEqual([name, axes, at], ["zoom", "xy", { x: 500, y: 400 }]);
  assert.ok(factor < 1);
  wheel({ deltaY: 100, altKey: true });
  assert.equal(calls.pop()[1], "y");
  wheel({ deltaX: 30, deltaY: 1 });
  assert.deepEqual(calls.pop(), ["pan", 300]);
});
