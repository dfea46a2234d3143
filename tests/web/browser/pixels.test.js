// What is drawn to scale, by its pixels: a chart whose picture merely changes may as well be wrong.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { newPage, open, settle, startBrowser, startServer } from "./harness.js";

const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
const GIB = 2 ** 30;
const PEAK = 56802019840; // of v5e_gpt_12layer_oom
let server, browser, page;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  page = await newPage(browser, server, { colorScheme: "light" });
});

after(async () => {
  await browser?.close();
  server?.stop();
});

/** The colours [r, g, b, alpha] of a row or column of a canvas, from (x, y) on. */
function colorsOf(selector, [x, y, width, height]) {
  return page.evaluate(
    ([one, ...box]) => {
      const { data } = document
        .querySelector(one)
        .getContext("2d")
        .getImageData(...box);
      return Array.from({ length: data.length / 4 }, (_, i) => [...data.slice(4 * i, 4 * i + 4)]);
    },
    [selector, x, y, width, height],
  );
}

test("padding is hatched at the foot of its bar, as high as its share", async () => {
  await open(page, server, "?run=v5e_padded&tag=memory_viewer"); // the two largest: 43.8 % padding
  const column = await colorsOf("canvas[data-order=padding]", [200, 0, 1, 26]);
  const plain = String(column[1]);
  const first = column.findIndex((color) => String(color) !== plain);
  assert.ok(Math.abs(first - (1 - 0.4376) * 26) <= 1, `hatched from row ${first}`);
  assert.notEqual(String(column[25]), plain);
});

test("the capacity is a line across the curve, where its bytes are", async () => {
  const rowsWithLine = () =>
    page.$eval(".u-over canvas", (canvas) => {
      const { width, height } = canvas;
      const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
      const isRed = (at) => data[at] > 150 && data[at + 1] < 100 && data[at + 2] < 100 && data[at + 3] > 100;
      const redOf = Array(height).fill(0);
      for (let i = 0; i < width * height; i += 1) if (isRed(4 * i)) redOf[Math.floor(i / width)] += 1;
      return { rows: redOf.flatMap((red, row) => (red > width / 3 ? [row] : [])), height };
    });
  await open(page, server, `${OOM}&capacity=16GiB`);
  const { rows, height } = await rowsWithLine();
  const wanted = height * (1 - (16 * GIB) / (1.08 * PEAK));
  assert.equal(rows.length, 1);
  assert.ok(Math.abs(rows[0] - wanted) <= 1.5, `row ${rows[0]} of ${height}, not ${wanted}`);
  await open(page, server, OOM);
  assert.deepEqual((await rowsWithLine()).rows, []);
});

test("the composition is as wide as its share of the capacity, which is marked at its end", async () => {
  await open(page, server, `${OOM}&capacity=95GiB`);
  const [bar, segments, mark] = await page.evaluate(() => {
    const box = (node) => node.getBoundingClientRect();
    const whole = document.querySelector(".composition-bar");
    const widths = [...whole.querySelectorAll(".segment")].map((one) => box(one).width);
    return [
      box(whole).width,
      widths.reduce((a, b) => a + b),
      box(whole.querySelector(".capacity-mark")).x - box(whole).x,
    ];
  });
  assert.ok(Math.abs(segments / bar - 52.93 / 95) < 0.005, `${segments} of ${bar}`);
  assert.ok(Math.abs(mark - bar) < 3);
});

test("a row of the table that the keys go to comes into sight, from above and from below", async () => {
  await open(page, server, `${OOM}&panel=table`);
  const inSight = () =>
    page.evaluate(() => {
      const [row, box] = [document.activeElement, document.activeElement.closest(".table-scroll")].map((node) =>
        node.getBoundingClientRect(),
      );
      return row.top >= box.top && row.bottom <= box.bottom + 1 && row.height > 0;
    });
  await page.locator(".buffers tr[data-row]").first().focus();
  for (const key of ["End", "Home", "PageDown", "PageDown", "PageDown", "PageUp", "PageUp", "PageUp"]) {
    await page.keyboard.press(key);
    await settle(page);
    assert.ok(await inSight(), key);
  }
  assert.equal(await page.getAttribute(":focus", "aria-rowindex"), "2");
});

test("nothing went wrong on the way", () => {
  assert.deepEqual(page.complaints, []);
});
