// The Device Memory tool on a real profile, by mouse and by keyboard.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LOGDIR, newPage, open, param, picture, settle, startBrowser, startServer, copiedBy } from "./harness.js";

const FILE = path.join(LOGDIR, "../device_memory/two_devices.memory.prof");
const CANVAS = ".icicle-canvas";
const ROW = 20;
let browser;
let server;
let logdir;

/** A session with a program and a profile, one without, a profile of its own, and a damaged one. */
function makeLogdir() {
  const root = mkdtempSync(path.join(tmpdir(), "hbmview-page-"));
  for (const session of ["with", "without"]) {
    const folder = path.join(root, "plugins/profile", session);
    mkdirSync(folder, { recursive: true });
    const xplane = "tpu-vm-0.xplane.pb.gz";
    copyFileSync(path.join(LOGDIR, "plugins/profile/v5e_matmul", xplane), path.join(folder, xplane));
  }
  copyFileSync(FILE, path.join(root, "plugins/profile/with/held.prof"));
  copyFileSync(FILE, path.join(root, "memory.prof"));
  writeFileSync(path.join(root, "bad.prof"), readFileSync(FILE).subarray(0, -400));
  return root;
}

before(async () => {
  logdir = makeLogdir();
  server = await startServer(logdir);
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.stop();
  rmSync(logdir, { recursive: true, force: true });
});

async function opened(query) {
  const page = await newPage(browser, server);
  await open(page, server, query);
  return page;
}

const options = (page, id) => page.$$eval(`#pick-${id} option`, (all) => all.map((one) => one.value));

async function clickRow(page, row) {
  const box = await page.locator(CANVAS).boundingBox();
  await page.mouse.click(box.x + 0.3 * box.width, box.y + ROW * (row + 0.5));
}

test("a profile outside any session opens in Device Memory alone", async () => {
  const page = await opened("/?run=memory.prof");
  await page.waitForSelector(CANVAS);
  assert.deepEqual(await options(page, "tools"), ["device_memory", "out_of_memory"]);
  assert.match(await page.textContent("#pick-sessions"), /^memory\.prof/);
  assert.match(await page.textContent(".headline-figures"), /5\.31 MiB held in 25 objects/);
  assert.deepEqual(page.complaints, []);
});

test("the first session of the list stays the newest profile, with all tools", async () => {
  const page = await opened("/");
  assert.equal(await param(page, "run"), "without");
  assert.ok((await options(page, "tools")).length > 1);
});

test("what to know first stands first: who holds it, a click or a key away", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  const first = page.locator("[data-finding=holder]").first();
  const [, name, share] = /^(.+) holds .+ in \d+ objects? \((\S+) %\)$/.exec(await first.textContent());
  assert.ok(Number(share) >= 10 && Number(share) <= 100, share);
  await page.keyboard.press("f");
  await settle(page);
  assert.notEqual(await param(page, "zoom"), null);
  assert.ok((await page.textContent(".icicle-path")).includes(name));
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-finding")), "holder");
  await page.close();
});

test("click zooms, the path leads back, and both are in the address", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  const before = await picture(page, CANVAS);
  await clickRow(page, 5);
  await settle(page);
  assert.notEqual(await param(page, "zoom"), null);
  assert.match(await page.textContent(".icicle-path"), /all › .*train/);
  assert.notEqual(await picture(page, CANVAS), before);
  await page.reload();
  await page.waitForSelector(CANVAS);
  await settle(page);
  assert.match(await page.textContent(".icicle-path strong"), /make_weights/);
  await page.click(".icicle-path button");
  await settle(page);
  assert.equal(await param(page, "zoom"), null);
  assert.deepEqual(page.complaints, []);
});

test("the card tells function, place, bytes, share and count", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  const box = await page.locator(CANVAS).boundingBox();
  await page.mouse.move(box.x + 0.3 * box.width, box.y + ROW * 5.5);
  await settle(page);
  const card = await page.textContent(".frame-card");
  for (const words of ["make_weights", "/home/u/train.py:3", "4.00 MiB", "75.3 %", "7 ×"])
    assert.ok(card.includes(words), `${words} in ${card}`);
  await page.mouse.move(5, 5);
  await settle(page);
  assert.ok(await page.isHidden(".frame-card"));
});

test("arrow keys walk, Enter zooms, Backspace and Escape come back", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  await page.focus(CANVAS);
  for (let i = 0; i < 4; i += 1) await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.match(await page.textContent(".frame-card"), /<module>/);
  await page.keyboard.press("Enter");
  await settle(page);
  const zoomed = Number(await param(page, "zoom"));
  assert.ok(zoomed > 0);
  await page.keyboard.press("Backspace");
  await settle(page);
  assert.ok(Number(await param(page, "zoom")) < zoomed);
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await param(page, "zoom"), null);
});

test("kind and device choose what counts", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  await page.click('.entry[data-value="cpu:1"]');
  await settle(page);
  assert.equal(await param(page, "device"), "cpu:1");
  assert.match(await page.textContent(".headline-figures"), /512\.00 KiB held in 4 objects on cpu:1/);
  await page.click('.entry[data-value="null"] >> nth=1');
  await page.click('.entry[data-value="executable"]');
  await settle(page);
  assert.match(await page.textContent(".headline-figures"), /0 B held in 8 executables/);
  assert.equal(await page.getAttribute('.toggle >> text="by count"', "aria-pressed"), "true");
});

test("the search marks frames and filters the table; a row searches its function", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  const before = await picture(page, CANVAS);
  await page.keyboard.press("/");
  await page.keyboard.type("make_batch");
  await settle(page);
  assert.notEqual(await picture(page, CANVAS), before);
  assert.match(await page.textContent("#icicle-found"), /768\.00 KiB \(14\.1 %\)/);
  assert.match(await page.textContent("#top-count"), /^1 of \d+ functions/);
  assert.equal(await param(page, "filter"), "make_batch");
  await page.keyboard.press("Escape");
  await settle(page);
  await page.click(".top-functions tr[data-row] >> nth=0");
  await settle(page);
  assert.notEqual(await param(page, "filter"), null);
});

test("the table sorts, and copies as CSV", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  await page.click('.top-functions [data-sort="self"]');
  await settle(page);
  assert.equal(await param(page, "sort"), "self");
  assert.match(await page.textContent(".top-functions tr[data-row] td >> nth=1"), /MiB/);
  const csv = await copiedBy(page, () => page.click('button[title^="copy these functions"]'));
  assert.equal(csv.split("\n")[0], "Function,SelfBytes,TotalBytes,SelfCount,TotalCount,File");
  const all = await page.getAttribute(".top-functions", "aria-rowcount");
  assert.equal(csv.trim().split("\n").length, Number(all));
});

test("your code only leaves out the frames of libraries", async () => {
  const page = await opened("/?run=with&tag=device_memory");
  await page.click('.toggle >> text="your code only"');
  await page.waitForFunction(() => Number(document.querySelector(".top-functions").ariaRowCount) < 12);
  await settle(page);
  assert.equal(await param(page, "frames"), "own");
  assert.equal(await page.locator(".top-functions tr.library").count(), 0);
  assert.match(await page.textContent(".headline-figures"), /5\.31 MiB held in 25 objects/);
});

test("a session without one says how to make one", async () => {
  const page = await opened("/?run=without&tag=device_memory");
  const words = await page.textContent(".message");
  assert.match(words, /jax\.profiler\.save_device_memory_profile\("memory\.prof"\)/);
  assert.match(words, /session's folder/);
  assert.deepEqual(page.complaints, []);
});

test("a damaged one tells the file and the place", async () => {
  const page = await opened("/?run=bad.prof&tag=device_memory");
  assert.match(await page.textContent(".message .error-line"), /bad\.prof/);
  assert.match(await page.textContent(".choices"), /error/);
});
