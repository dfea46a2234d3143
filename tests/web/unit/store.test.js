import { test } from "node:test";
import assert from "node:assert/strict";
import { createStore } from "../../../web/js/base/store.js";
import { chartOwnsWheel, notePageWheel, wheelFactor } from "../../../web/js/base/wheel.js";
import { mixRgb, pixelOf, rgbOf } from "../../../web/js/base/palette.js";

test("watchers hear of their keys, once, with all values in place", () => {
  const store = createStore({ a: 1, b: 2 });
  const heard = [];
  const stop = store.watch(["a", "b"], (now, changed) => heard.push([now.a, now.b, changed.join()]));
  store.set({ a: 3, b: 4 });
  store.set({ a: 3 });
  stop();
  store.set({ a: 5 });
  assert.deepEqual(heard, [[3, 4, "a,b"]]);
});

test("the wheel: a scroll goes on as a scroll, and a chart at its full range lets the page scroll", () => {
  assert.ok(chartOwnsWheel(1000, false, true));
  assert.ok(!chartOwnsWheel(1000, true, true));
  notePageWheel(1000);
  assert.ok(!chartOwnsWheel(1100, false, false));
  assert.ok(chartOwnsWheel(1300, false, false));
});

test("lines and pixels of a wheel zoom alike, and never wildly", () => {
  assert.equal(wheelFactor({ deltaMode: 1, deltaY: 1 }), wheelFactor({ deltaMode: 0, deltaY: 24 }));
  assert.ok(wheelFactor({ deltaMode: 0, deltaY: 1e9 }) < 2);
});

test("colours as canvases need them", () => {
  assert.deepEqual(rgbOf("rgb(1, 2, 3)"), [1, 2, 3]);
  assert.deepEqual(mixRgb([0, 0, 0], [10, 20, 30], 0.5), [5, 10, 15]);
  assert.equal(pixelOf([1, 2, 3]), 0xff030201);
});
