import { mock, test } from "node:test";
import assert from "node:assert/strict";
import { createBufferDetails } from "../../../web/js/tools/memory_viewer/buffer_details.js";

globalThis.window ??= globalThis;

/** The mouse rests on a buffer: the request for it leaves. */
function createRested() {
  mock.timers.enable({ apis: ["setTimeout"] });
  const asked = [];
  const ready = [];
  const details = createBufferDetails((id, signal) => {
    const request = { id, signal };
    asked.push(request);
    return new Promise((resolve, reject) => {
      Object.assign(request, { resolve, reject });
      signal.addEventListener("abort", () => reject(new DOMException("superseded", "AbortError")));
    });
  });
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
  assert.deepEqual(details.get(2), { details: { stack: ["two"] }, error: null });
  rest(1);
  asked[2].resolve({ stack: ["one"] });
  await taken();
  assert.deepEqual(details.get(1).details, { stack: ["one"] });
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
