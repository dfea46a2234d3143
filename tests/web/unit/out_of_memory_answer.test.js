// What the answer of "Out of memory" is put together from: excerpts for links, rows of holders.
import { test } from "node:test";
import assert from "node:assert/strict";
import { excerptOf } from "../../../web/js/tools/out_of_memory/data/excerpt.js";
import { alikeText, holdersTitle, leftOutText } from "../../../web/js/tools/out_of_memory/data/holders.js";
import { adviceParams } from "../../../web/js/tools/out_of_memory/data/links.js";
import { LINK_CHARS_MAX, holdsText, packText, unpackText } from "../../../web/js/tools/out_of_memory/link_text.js";

const GIB = 2 ** 30;
const numbered = (count) => Array.from({ length: count }, (_, i) => `line ${i + 1}`).join("\n");

test("an excerpt has each message with a little around it, once where they overlap", () => {
  const lines = (messages) => excerptOf(numbered(100), messages).split("\n");
  assert.deepEqual(lines([{ line: 10, last_line: 12 }]), numbered(14).split("\n").slice(7));
  assert.equal(lines([{ line: 10, last_line: 12 }, { line: 13 }]).length, 8);
  assert.deepEqual(lines([{ line: 1 }]), ["line 1", "line 2", "line 3"]);
  assert.equal(lines([{ line: 100, last_line: 100 }]).at(-1), "line 100");
});

test("a text comes back from its link as it was", async () => {
  const text = `Ran out of memory: 52.93G \u2192 "quoted", \u{1f525}\n`.repeat(20);
  const link = await packText(text);
  assert.ok(holdsText(link) && link.length < 400, link);
  assert.match(link, /^#log=[-_A-Za-z0-9]+$/);
  assert.equal(await unpackText(link), text);
});

test("what no address should hold is not put into one, and a bomb is not unpacked", async () => {
  let seed = 7;
  const random = () => String.fromCharCode(32 + ((seed = (seed * 48271) % 2147483647) % 90));
  assert.equal(await packText(Array.from({ length: LINK_CHARS_MAX }, random).join("")), null);
  assert.equal(await packText("x".repeat(2 ** 20 + 1)), null);
  const stream = new Blob(["x".repeat(2 ** 21)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bomb = Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
  await assert.rejects(unpackText(`#log=${bomb}`), /too large/);
  await assert.rejects(unpackText("#log=%%%"));
});

test("buffers of one size are counted, not added up by the reader", () => {
  const text = (buffers, alike, gib) => alikeText({ buffers, alike, alike_bytes: gib * GIB });
  assert.equal(text(34, 11, 3), "11 x 3.00 GiB and 23 more");
  assert.equal(text(11, 11, 3), "11 x 3.00 GiB");
  assert.equal(text(2, 1, 6), "2 buffers, largest 6.00 GiB");
  assert.equal(text(1, 1, 6), "1 buffer");
  assert.match(holdersTitle({ from: "profile", by: "operation" }), /peak, by operation/);
  assert.match(holdersTitle({ from: "message", by: "line" }), /of what the message lists/);
  assert.equal(leftOutText({ left_out: 3, left_out_bytes: GIB }), "3 more hold 1.00 GiB.");
  assert.equal(leftOutText({ left_out: 0, left_out_bytes: 0 }), "");
});

test("all advice is that of the joined program, opened", () => {
  const joined = { session: "S", module: "m(1)", link: "?run=S&tag=memory_viewer&module_name=m%281%29" };
  const params = adviceParams({ joined, capacity_bytes: 16 * GIB, memory_space: "hbm" }, null);
  assert.deepEqual([params.run, params.module_name, params.panel, params.capacity], ["S", "m(1)", "advice", "16GiB"]);
  assert.equal(adviceParams({ joined: null }, null), null);
});
