// What is new from one list of sessions to the next, and what of it the reader has not seen.
import { test } from "node:test";
import assert from "node:assert/strict";
import { newsOf, newsText, withNews } from "../../../web/js/shell/list_news.js";

const list = (version, sessions, profiles = {}) => ({
  version,
  sessions: Object.entries(sessions).map(([name, of]) => ({ name, modified_s: 0, version: of })),
  device_memory: Object.entries(profiles).map(([name, of]) => ({ name, modified_s: 0, version: of })),
});
const NONE = { added: [], changed: [], removed: [] };

test("sessions and device memory profiles that came, changed and went", () => {
  const before = list("1", { a: "x", b: "x", c: "x" }, { "m.prof": "x" });
  const now = list("2", { d: "x", b: "y", a: "x" }, { "m.prof": "y", "n.prof": "x" });
  assert.deepEqual(newsOf(before, now), { added: ["d", "n.prof"], changed: ["b", "m.prof"], removed: ["c"] });
});

test("the first list, and the same one again, are no news", () => {
  assert.deepEqual(newsOf(null, list("1", { a: "x" })), NONE);
  assert.deepEqual(newsOf(list("1", { a: "x" }), list("1", { a: "x" })), NONE);
});

test("what changes after it came is still new; what is open or went is not unseen", () => {
  const first = withNews(new Map(), { ...NONE, added: ["d"], changed: ["b", "c"] }, ["c"]);
  assert.deepEqual([...first], [["b", "changed"], ["d", "new"]]);
  const then = withNews(first, { ...NONE, changed: ["d"], removed: ["b"] }, [null]);
  assert.deepEqual([...then], [["d", "new"]]);
});

test("in words", () => {
  assert.equal(newsText(new Map()), "");
  assert.equal(newsText(new Map([["a", "new"], ["b", "changed"], ["c", "new"]])), "2 new, 1 changed");
});
