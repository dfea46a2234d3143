// Words can be read: WCAG's contrast of every colour that words have on every ground that they stand on, as
// css/base.css defines them, light and dark.
import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const LEAST = 4.5;
const css = readFileSync(new URL("../../../web/css/base.css", import.meta.url), "utf8");
const colors = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(([, name, light, dark]) => [
    name,
    { light, dark },
  ]),
);

const GROUNDS = ["bg", "panel", "raised", "accent-soft"];
const WORDS = ["ink", "ink-2", "ink-3", "accent", "danger"];
const OTHERS = [
  ["bg", "danger"], // the verdict
  ["ink", "danger-soft"],
  ["ink", "line"], // an entry under the mouse
];

function luminance(hex) {
  const [r, g, b] = [1, 3, 5]
    .map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

test("contrast is counted as WCAG does", () => {
  assert.equal(contrast("#000000", "#ffffff"), 21);
  assert.ok(Math.abs(contrast("#777777", "#ffffff") - 4.478) < 0.001);
});

for (const theme of ["light", "dark"]) {
  test(`words stand out from their ground: ${theme}`, () => {
    const pairs = [...GROUNDS.flatMap((ground) => WORDS.map((words) => [words, ground])), ...OTHERS];
    for (const [words, ground] of pairs) {
      const reached = contrast(colors.get(words)[theme], colors.get(ground)[theme]);
      assert.ok(reached >= LEAST, `${words} on ${ground}: ${reached.toFixed(2)}`);
    }
  });
}
