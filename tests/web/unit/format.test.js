import { test } from "node:test";
import assert from "node:assert/strict";
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

test("sizes as people type them", () => {
  const cases = [
    ["15.75GiB", 16911433728],
    ["15.75G", 16911433728],
    ["16 GB", 16e9],
    ["1024", 1024],
    ["2mib", 2 ** 21],
    ["1,5 KiB", 1536],
    ["", null],
    ["lots", null],
    ["0", null],
    ["-1", null],
    ["1 XB", null],
    ["99999999 TiB", null],
    [null, null],
  ];
  for (const [text, bytes] of cases) assert.equal(parseSize(text), bytes, String(text));
});
