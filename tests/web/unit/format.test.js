import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import {
  exactBytes,
  formatSize,
  groupDigits,
  pickAxisUnit,
  pickUnit,
  plural,
  sizeIn,
  tickText,
} from "../../../web/js/base/format.js";
import { parseSize } from "../../../web/js/base/size_text.js";

test("a size gets the largest unit above one", () => {
  assert.equal(formatSize(0), "0 B");
  assert.equal(formatSize(1023), "1\u202f023 B");
  assert.equal(formatSize(1024), "1.00 KiB");
  assert.equal(formatSize(56802019840), "52.90 GiB");
  assert.equal(formatSize(3 * 2 ** 40), "3.00 TiB");
});

test("a chosen unit holds for all sizes", () => {
  assert.equal(formatSize(2 ** 30, "MiB"), "1024.00 MiB");
  assert.equal(formatSize(2 ** 20, "GiB"), "<0.01 GiB");
  assert.equal(formatSize(2 ** 20, "bytes"), "1\u202f048\u202f576 B");
  assert.equal(sizeIn(0, pickUnit(2 ** 30)), "0.00 GiB");
});

test("exact bytes come in groups of three", () => {
  assert.equal(exactBytes(16911433728), "16\u202f911\u202f433\u202f728 B");
  assert.equal(groupDigits(-1234), "-1\u202f234");
});

test("axes never count in bytes, and drop trailing zeros", () => {
  assert.equal(pickAxisUnit(2 ** 31, "bytes").name, "GiB");
  assert.equal(tickText(3 * 2 ** 29, pickAxisUnit(2 ** 31), 2), "1.5 GiB");
});

test("one buffer, two buffers", () => {
  assert.equal(plural(1, "buffer"), "1 buffer");
  assert.equal(plural(1200, "buffer"), "1\u202f200 buffers");
});

// The program's own table (tests/unit/test_size_text.c): what one takes, the other does.
test("sizes as people type them", () => {
  const table = JSON.parse(readFileSync(new URL("../../fixtures/sizes.json", import.meta.url), "utf8"));
  for (const [text, bytes] of Object.entries(table.sizes)) assert.equal(parseSize(text), bytes, text);
  for (const text of [...table.no_sizes, null]) assert.equal(parseSize(text), null, String(text));
});

test("the ticks of an axis leave room for its name, whatever unit was chosen", () => {
  assert.equal(pickAxisUnit(200 * 2 ** 30, "MiB").name, "GiB");
  assert.equal(pickAxisUnit(50 * 2 ** 30, "MiB").name, "MiB");
});
