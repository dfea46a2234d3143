// Sessions of many hosts, one of them not like the others: found by mouse and by keyboard.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { boxOf, newPage, open, param, settle, startBrowser, startServer } from "./harness.js";

const HOSTS = 40;
const ODD = "host-017";
const OP = "Held/MatMul";
const MEMORY = "bfc_cpu_allocator_for_gpu";
const GUTTERS = { left: 74, right: 10, bottom: 20 }; // js/base/across/painter.js
let browser;
let server;
let logdir;

before(async () => {
  logdir = mkdtempSync(path.join(tmpdir(), "hbmview-pod-"));
  execFileSync("python3", [new URL("../../http/pod.py", import.meta.url).pathname, logdir, String(HOSTS)]);
  server = await startServer(logdir);
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.stop();
  rmSync(logdir, { recursive: true, force: true });
});

/** The pixel in the middle of bar number `i`, `up` pixels above the axis. */
function pixelOfBar(page, i, count, up) {
  return page.evaluate(
    ({ i, count, up, gutters }) => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(".across-canvas"));
      const ratio = canvas.width / canvas.clientWidth;
      const room = Math.min(48, (canvas.clientWidth - gutters.left - gutters.right) / count);
      const x = (gutters.left + (i + 0.5) * room) * ratio;
      const y = (canvas.clientHeight - gutters.bottom - up) * ratio;
      return [...canvas.getContext("2d").getImageData(Math.round(x), Math.round(y), 1, 1).data];
    },
    { i, count, up, gutters: GUTTERS },
  );
}

/** How many pixels are written on below the axis, between each two places along it. */
function labelInk(page, places) {
  return page.evaluate(
    ({ places, gutters }) => {
      const canvas = /** @type {HTMLCanvasElement} */ (document.querySelector(".across-canvas"));
      const ratio = canvas.width / canvas.clientWidth;
      const top = canvas.height - (gutters.bottom - 4) * ratio;
      return places.slice(1).map((end, i) => {
        const x = (gutters.left + places[i] + 2) * ratio;
        const wide = (end - places[i]) * ratio;
        const { data } = canvas.getContext("2d").getImageData(x, top, wide, canvas.height - top);
        return data.filter((value, at) => at % 4 === 3 && value > 0).length;
      });
    },
    { places, gutters: GUTTERS },
  );
}

async function openAcross(page, query = "") {
  await open(page, server, `?run=memory&tag=memory_profile&panel=across&host=host-003&memory_id=${MEMORY}${query}`);
  await page.waitForSelector(".across-differs");
  await settle(page);
}

test("a program of all hosts is one entry, its variants below it", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "?run=programs&tag=memory_viewer&module_name=jit_train_step(1)");
  await page.waitForSelector(".modules-section .entry-part");
  const entries = page.locator(".modules-section .entry");
  assert.equal(await entries.count(), 3);
  assert.equal(await entries.first().locator(".entry-below").textContent(), `2 variants: ${HOSTS - 1} + 1 (${ODD})`);
  assert.match(await page.locator(".modules-section h2").textContent(), /\(1\)$/);
  await page.locator(".modules-section .entry-part", { hasText: `${HOSTS - 1} hosts` }).click();
  await page.waitForFunction(() => new URLSearchParams(location.search).get("host") === "host-000");
  await page.waitForFunction(() => document.querySelector(".figures-line")?.textContent?.includes("500"));
  await settle(page);
  assert.deepEqual(page.complaints, []);
});

test("the hosts narrow as one types, and Enter picks", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "?run=programs&tag=memory_viewer&module_name=jit_train_step(1)");
  const filter = page.locator("#pick-hosts-filter");
  await filter.fill("host-01");
  const options = page.locator("#pick-hosts option");
  assert.equal(await options.count(), 10);
  for (let i = 0; i < 7; i += 1) await filter.press("ArrowDown");
  await filter.press("Enter");
  assert.equal(await param(page, "host"), ODD);
  await settle(page);
  assert.equal(await filter.inputValue(), "");
  assert.equal(await options.count(), HOSTS + 1, "all again");
  await filter.fill("nowhere");
  assert.equal(await options.count(), 0);
  assert.match(await page.locator(".side-note", { hasText: "matches" }).textContent(), /None of 41 matches/);
  await filter.press("Escape");
  assert.equal(await options.count(), HOSTS + 1);
  assert.deepEqual(page.complaints, []);
});

test("who differs, and by what; a click on the sentence opens that host", async () => {
  const page = await newPage(browser, server);
  await openAcross(page);
  const sentences = page.locator(".across-differs");
  assert.equal(await sentences.count(), 1);
  const text = await sentences.first().textContent();
  assert.match(text, new RegExp(`^${ODD}, ${MEMORY}: 2\\.00 GiB at the peak`));
  assert.match(text, new RegExp(`${OP} holds 2\\.00 GiB here, nothing there, since step \\d+\\.$`));
  await sentences.first().click();
  await page.waitForFunction((odd) => new URLSearchParams(location.search).get("host") === odd, ODD);
  await page.waitForSelector(".across-differs");
  assert.equal(await param(page, "panel"), "across", "the panel stays open");
  assert.deepEqual(page.complaints, []);
});

test("a bar for each host: high where more is held, opened by the mouse", async () => {
  const page = await newPage(browser, server, { colorScheme: "light", viewport: { width: 1280, height: 1400 } });
  await openAcross(page);
  const empty = await pixelOfBar(page, 5, HOSTS, 60);
  const [red, green] = await pixelOfBar(page, 17, HOSTS, 60);
  assert.equal(empty[3], 0, "host-005 is far below");
  assert.ok(red > green + 60, "the one that differs has its colour");
  const box = await boxOf(page, ".across-canvas");
  const room = Math.min(48, (box.width - GUTTERS.left - GUTTERS.right) / HOSTS);
  await page.mouse.move(box.x + GUTTERS.left + 5.5 * room, box.y + 40);
  await page.waitForFunction(() => document.querySelector(".across-readout")?.textContent?.startsWith("host-005"));
  await page.mouse.click(box.x + GUTTERS.left + 17.5 * room, box.y + 40);
  await page.waitForFunction((odd) => new URLSearchParams(location.search).get("host") === odd, ODD);
  assert.deepEqual(page.complaints, []);
});

test("by keyboard: highest first, along the bars, Enter opens", async () => {
  const page = await newPage(browser, server);
  await openAcross(page);
  await page.locator(".across button", { hasText: "Highest first" }).press("Enter");
  const chart = page.locator(".across-chart");
  await chart.focus();
  await chart.press("ArrowRight");
  const readout = () => page.locator(".across-readout").textContent();
  assert.match(await readout(), new RegExp(`^${ODD}`));
  await chart.press("ArrowRight");
  assert.match(await readout(), /^host-000, /);
  await chart.press("End");
  assert.match(await readout(), /^host-039, /);
  await chart.press("Home");
  await chart.press("Enter");
  await page.waitForFunction((odd) => new URLSearchParams(location.search).get("host") === odd, ODD);
  assert.deepEqual(page.complaints, []);
});

test("device memory profiles side by side", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "?run=devices&tag=device_memory");
  await page.waitForSelector(".across-section .across-differs");
  const first = page.locator(".across-section .across-differs").first();
  assert.match(await first.textContent(), /^host-002\.memory\.prof, .*3\.\d\d GiB at the peak, 3\.00 GiB more than/);
  const [belowLast, rightOfAll] = await labelInk(page, [380, 480, 900]);
  assert.ok(belowLast > 0, "the last file is named below its bar");
  assert.equal(rightOfAll, 0);
  await first.click();
  await page.waitForFunction(() => new URLSearchParams(location.search).get("file") === "host-002.memory.prof");
  assert.notEqual(await param(page, "device"), null);
  await settle(page);
  assert.deepEqual(page.complaints, []);
});
