import { mock, test } from "node:test";
import assert from "node:assert/strict";
import { createDetails } from "../../../web/js/base/details.js";

globalThis.window ??= globalThis;

/** The mouse rests on a buffer: the request for it leaves. */
function createRested() {
  mock.timers.enable({ apis: ["setTimeout"] });
  const asked = [];
  const ready = [];
  const load = (id, signal) => {
    const request = { id, signal };
    asked.push(request);
    return new Promise((resolve, reject) => {
      Object.assign(request, { resolve, reject });
      signal.addEventListener("abort", () => reject(new DOMException("superseded", "AbortError")));
    });
  };
  const details = createDetails(load, { restMs: 70, isWhole: (facts) => facts.stack !== undefined });
  const rest = (id) => {
    details.want(id, (arrived) => ready.push(arrived));
    mock.timers.tick(1000);
  };
  return { details, asked, ready, rest };
}

/** The answers that were given have been taken. */
const taken = () => new Promise((resolve) => setImmediate(resolve));

test.afterEach(() => mock.timers.reset());

test("a request that another one overtook is no error of its buffer: it is asked for again", async () => {
  const { details, asked, ready, rest } = createRested();
  rest(1);
  rest(2);
  assert.ok(asked[0].signal.aborted);
  asked[1].resolve({ stack: ["two"] });
  await taken();
  assert.deepEqual(ready, [2]);
  assert.equal(details.get(1), null);
  assert.deepEqual(details.get(2), { stack: ["two"] });
  rest(1);
  asked[2].resolve({ stack: ["one"] });
  await taken();
  assert.deepEqual(details.get(1), { stack: ["one"] });
});

test("an error is kept and told; what is known is not asked for twice", async () => {
  const { details, asked, ready, rest } = createRested();
  rest(1);
  asked[0].reject(new Error("gone"));
  await taken();
  assert.deepEqual([ready, details.get(1).error.message], [[1], "gone"]);
  rest(1);
  assert.equal(asked.length, 1);
});

test("a mouse that only passes by asks for nothing", () => {
  const { details, asked } = createRested();
  details.want(1, () => {});
  details.want(2, () => {});
  mock.timers.tick(1000);
  assert.deepEqual(
    asked.map((request) => request.id),
    [2],
  );
});

test("what is known in part is shown, and asked for again", async () => {
  const { details, asked, rest } = createRested();
  details.keep(1, { size: 8 });
  assert.deepEqual(details.get(1), { size: 8 });
  rest(1);
  asked[0].resolve({ size: 8, stack: [] });
  await taken();
  rest(1);
  assert.equal(asked.length, 1);
});
