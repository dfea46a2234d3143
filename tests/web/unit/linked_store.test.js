import { test } from "node:test";
import assert from "node:assert/strict";
import { createLinkedStore } from "../../../web/js/base/linked_store.js";
import { createStore } from "../../../web/js/base/store.js";

/** A window that the address tells in whole numbers, and a unit that others choose. */
function createLinked(address) {
  const params = createStore({ zoom: null, unit: null, other: null, ...address });
  const store = createLinkedStore({
    params,
    initial: { hover: null },
    readers: {
      zoom: ({ zoom }) => ({ begin: zoom === null ? 0 : Number(zoom) }),
      unit: ({ unit }) => ({ unit: unit ?? "auto" }),
    },
    encode: ({ begin }) => ({ zoom: begin === 0 ? null : String(Math.round(begin)) }),
  });
  return { params, store };
}

test("what is written shows as it is, and stands in the address as it is told there", () => {
  const { params, store } = createLinked({ zoom: "4" });
  assert.deepEqual(store.get(), { hover: null, begin: 4, unit: "auto" });
  store.write({ begin: 7.25 });
  assert.equal(params.get().zoom, "7");
  assert.equal(store.get().begin, 7.25, "its own word does not come back to it");
  store.write({ begin: 0 });
  assert.equal(params.get().zoom, null);
});

test("what somebody else changes is read, and nothing besides", () => {
  const { params, store } = createLinked({ zoom: "4" });
  store.write({ begin: 7.25 });
  params.set({ unit: "MiB" });
  assert.deepEqual([store.get().unit, store.get().begin], ["MiB", 7.25]);
  params.set({ zoom: "9" });
  assert.equal(store.get().begin, 9);
  store.dispose();
  params.set({ zoom: "11" });
  assert.equal(store.get().begin, 9);
});

test("a word that means the same as before stays as it was typed", () => {
  const { params, store } = createLinked({ zoom: "04" });
  store.write({ hover: 3 });
  assert.deepEqual([params.get().zoom, store.get().hover], ["04", 3]);
});

test("all is read again when the address means something else", () => {
  const { store } = createLinked({ zoom: "4" });
  store.set({ hover: 3, begin: 100 });
  store.readAll();
  assert.deepEqual(store.get(), { hover: null, begin: 4, unit: "auto" });
});
