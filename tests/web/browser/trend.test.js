// "Over sessions" on a log directory made of the fixtures' sessions, by mouse and by keyboard.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LOGDIR, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";

const STORY = {
  "2026_11_01_10_00_00": "v5e_gpt_4layer",
  "2026_11_02_10_00_00": "v5e_matmul",
  "2026_11_03_10_00_00": "v5e_gpt_12layer_oom",
  "2026_11_04_10_00_00": "v5e_gpt_scan",
};
const DAYS = Object.keys(STORY);
const CANVAS = ".trend-canvas";
const TREND = `/?run=${DAYS[3]}&tag=trend`;
const GUTTERS = { left: 78, right: 24, top: 24, below: 36 };
let browser;
let server;
let logdir;

before(async () => {
  logdir = mkdtempSync(path.join(tmpdir(), "hbmview-page-"));
  for (const [name, session] of Object.entries(STORY))
    cpSync(path.join(LOGDIR, "plugins/profile", session), path.join(logdir, "plugins/profile", name), {
      recursive: true,
    });
  server = await startServer(logdir);
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.stop();
  rmSync(logdir, { recursive: true, force: true });
});

/** The page once every session is read. */
async function opened(query, options = {}) {
  const page = await newPage(browser, server, options);
  await open(page, server, query);
  await page.waitForSelector(".trend-canvas");
  await settle(page);
  return page;
}

async function says(page, selector, pattern) {
  await page.waitForFunction(
    ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ""),
    [selector, pattern.source],
  );
}

async function placeOf(page, index) {
  const box = await page.locator(CANVAS).boundingBox();
  const width = box.width - GUTTERS.left - GUTTERS.right;
  return { x: box.x + GUTTERS.left + ((index + 0.5) * width) / DAYS.length, y: box.y + box.height / 2 };
}

test("the jump first, then a bar for each session, then the table", async () => {
  const page = await opened(TREND);
  await says(page, ".trend-verdict", /Largest jump: 2026-11-03: \+52\.41 GiB \(500\.51 MiB\u00a0→ 52\.90 GiB\)/);
  await says(page, ".trend-verdict", /at train\.py:53 \(9\u00a0→ 34 buffers\)/);
  const rows = await page.$$eval(".trend-points tr[data-row]", (all) => all.map((row) => row.textContent));
  assert.equal(rows.length, 4);
  assert.match(rows[0], /^2026_11_04_10_00_00.*6\.86 GiB.*−46\.04 GiB/);
  assert.match(rows[1], /52\.90 GiB.*\+52\.41 GiB.*52\.93 GiB.*train\.py:53/);
  assert.match(rows[2], /^2026_11_02_10_00_00.*jit__lambda/);
  assert.deepEqual(page.complaints, []);
});

test("bars are as high as the peaks, and made of their lines", async () => {
  const page = await opened(TREND);
  await says(page, ".trend-verdict", /Largest jump/);
  await settle(page);
  const heights = await page.$eval(
    CANVAS,
    (canvas, { left, right, top, below }) => {
      const ratio = window.devicePixelRatio;
      const width = canvas.clientWidth - left - right;
      const height = canvas.clientHeight - top - below;
      const context = canvas.getContext("2d");
      return [0, 1, 2, 3].map((index) => {
        const x = Math.round((left + ((index + 0.5) * width) / 4) * ratio);
        const column = context.getImageData(x, top * ratio, 1, height * ratio).data;
        const colors = new Set();
        let filled = 0;
        for (let i = 0; i < column.length; i += 4) {
          const isData = column[i + 3] === 255;
          if (isData) colors.add(column.slice(i, i + 3).join());
          filled += isData ? 1 : 0;
        }
        return { share: filled / (height * ratio), colors: colors.size };
      });
    },
    GUTTERS,
  );
  const most = 56828677120 * 1.08;
  const near = (share, bytes) => assert.ok(Math.abs(share - bytes / most) < 0.03, `${share} of ${bytes / most}`);
  near(heights[0].share, 524823552);
  assert.ok(heights[1].share < 0.03);
  near(heights[2].share, 56802019840);
  near(heights[3].share, 7363980800);
  assert.ok(heights[2].colors >= 5, `${heights[2].colors} colours`);
});

test("the mouse tells a session, a click chooses it, and links lead on", async () => {
  const page = await opened(TREND);
  await says(page, ".trend-verdict", /Largest jump/);
  const { x, y } = await placeOf(page, 2);
  await page.mouse.move(x, y);
  await says(page, ".trend .readout", /^2026_11_03_10_00_00: peak 52\.90 GiB, \+52\.41 GiB, total 52\.93 GiB$/);
  await page.mouse.click(x, y);
  await says(page, "#trend-compare", /^compare with 2026_11_01_10_00_00$/);
  await page.waitForFunction((name) => new URLSearchParams(location.search).get("point") === name, DAYS[2]);
  await page.click("#trend-compare");
  await says(page, ".compare-verdict", /peak 500\.51 MiB → 52\.90 GiB/);
  assert.equal(await param(page, "run"), DAYS[0]);
  assert.equal(await param(page, "run_b"), DAYS[2]);
});

test("by keyboard: arrows choose, Esc lets go, Enter compares", async () => {
  const page = await opened(TREND);
  await says(page, ".trend-verdict", /Largest jump/);
  await page.focus(CANVAS);
  await page.keyboard.press("ArrowLeft");
  await says(page, ".trend .readout", /^2026_11_04/);
  await page.keyboard.press("ArrowLeft");
  await says(page, ".trend .readout", /^2026_11_03/);
  await page.keyboard.press("Escape");
  await page.waitForSelector(".trend-links", { state: "hidden" });
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  await says(page, ".trend .readout", /^2026_11_03/);
  await page.keyboard.press("Enter");
  await says(page, ".compare-verdict", /peak 500\.51 MiB → 52\.90 GiB/);
});

test("from the Memory Viewer with its program, and the address opens the same", async () => {
  const page = await newPage(browser, server);
  await open(page, server, `/?run=${DAYS[1]}&tag=memory_viewer&module_name=jit__lambda(1)`);
  await settle(page);
  await page.keyboard.press("t");
  await says(page, ".trend-verdict", /One session only/);
  await says(page, "#top, header, h1", /jit__lambda/);
  await page.reload();
  await says(page, ".trend-verdict", /One session only/);
});

test("another module, and another kind, are picked at the left", async () => {
  const page = await opened(TREND);
  await says(page, ".trend-verdict", /Largest jump/);
  await page.selectOption("#pick-followed", "jit__lambda");
  await says(page, ".trend-verdict", /One session only/);
  await page.selectOption("#pick-follow", "device_memory");
  await page.waitForFunction(() => /no device memory profile/.test(document.querySelector("#main").textContent));
  assert.equal(await param(page, "of"), "device_memory");
});

test("in the dark it has other colours, and nothing leaves a wide or a narrow window", async () => {
  const page = await opened(TREND);
  await says(page, ".trend-verdict", /Largest jump/);
  await settle(page);
  const light = await picture(page, CANVAS);
  await page.emulateMedia({ colorScheme: "dark" });
  await page.reload();
  await says(page, ".trend-verdict", /Largest jump/);
  await settle(page);
  assert.notEqual(await picture(page, CANVAS), light);
  for (const width of [1280, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    await settle(page);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${wide} of ${width}`);
  }
});
