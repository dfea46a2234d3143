// What was asked for before the page was put together: an answer is taken over once, a refusal never.
import { afterEach, test } from "node:test";
import assert from "node:assert/strict";
import { askEarly, takeEarly } from "../../../web/js/early.js";

const realFetch = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = realFetch;
});

function answerAll(status, body) {
  globalThis.fetch = async () => ({ ok: status < 400, status, json: async () => body });
}

test("an answer is taken over once", async () => {
  answerAll(200, { sessions: [] });
  await askEarly("/good");
  assert.deepEqual((await takeEarly("/good")).body, { sessions: [] });
  assert.equal(await takeEarly("/good"), null);
});

test("a refusal is asked for again: what was not ready then may be now", async () => {
  answerAll(404, { error: { code: "not_found", message: "still being written" } });
  await askEarly("/pending");
  assert.equal(await takeEarly("/pending"), null);
});

test("a server that could not be reached is asked again", async () => {
  globalThis.fetch = async () => Promise.reject(new TypeError("no network"));
  await askEarly("/gone").catch(() => null);
  assert.equal(await takeEarly("/gone"), null);
});
