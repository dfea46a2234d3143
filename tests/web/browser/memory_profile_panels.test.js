import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { boxOf, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";

const at = (run, panel, more = "") => `?run=${run}&tag=memory_profile&panel=${panel}${more}`;
let server, browser, page;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  page = await newPage(browser, server);
});

after(async () => {
  await browser?.close();
  server?.stop();
});

async function openPanel(run, panel, more) {
  await open(page, server, at(run, panel, more));
  await page.waitForSelector(".panel-content:not([hidden])");
  await settle(page);
}

const text = (selector) => page.textContent(selector);
const names = () =>
  page.$$eval(".panel-body .row-grid tr[data-row]", (rows) => rows.map((row) => row.firstChild.textContent));
const moment = () => text(".moment");

async function csvOf() {
  await page.click(".panel-controls .save-menu > summary");
  const [download] = await Promise.all([page.waitForEvent("download"), page.click(".panel-controls .csv")]);
  return {
    name: download.suggestedFilename(),
    lines: (await readFile(await download.path(), "utf8")).trimEnd().split("\n"),
  };
}

/** CSV fields of this test's rows are never quoted but for shapes, which hold commas. */
const fields = (line) => line.match(/"[^"]*"|[^,]+|(?<=,)(?=,|$)/g);

test("the breakdown of the peak names what fills the heap, and its rows add up to it", async () => {
  await openPanel("tf_leak", "breakdown");
  assert.match(await moment(), /^At the peak: after event \d+, \S+ ms, step 11$/);
  assert.match(await text(".panel-head .facts"), /^heap 15\.89 MiB, 15\.63 MiB of it seen allocated/);
  assert.equal((await names())[0], "Relu");
  assert.ok((await names()).includes("unused preallocated device memory"));
  const { name, lines } = await csvOf();
  assert.match(name, /^tf_leak vm bfc_cpu_allocator_for_gpu breakdown\.csv$/);
  const total = lines.slice(1).reduce((sum, line) => sum + Number(fields(line)[1]), 0);
  assert.equal(total, 16657152);
  assert.equal(await page.$eval(".col-total .figure", (node) => node.title.replaceAll("\u202f", "")), "11534336 B");
  assert.deepEqual(page.complaints, []);
});

test("the breakdown follows the chosen event, and finds back to the peak", async () => {
  await openPanel("tf_leak", "breakdown");
  const atPeak = await moment();
  await page.click("text=‹ event");
  await settle(page);
  assert.match(await moment(), /^At the chosen time/);
  assert.ok(await param(page, "at"));
  await page.click("text=back to peak");
  await settle(page);
  assert.equal(await moment(), atPeak);
  assert.equal(await param(page, "at"), null);
});

test("a row leads to its first allocation; the filter and the least size leave rows out and say so", async () => {
  await openPanel("tf_leak", "breakdown");
  await page.click(".panel-body .row-grid tr[data-row] >> nth=0");
  await settle(page);
  assert.match(await text("#dock"), /Relu/);
  assert.match(await moment(), /step 0$/);
  await openPanel("tf_leak", "breakdown");
  await page.fill(".op-filter", "^add");
  await settle(page);
  assert.deepEqual([...new Set(await names())], ["AddV2"]);
  assert.equal(await param(page, "filter"), "^add");
  await page.press(".op-filter", "Escape");
  await page.selectOption(".breakdown-options select", "1MiB");
  await settle(page);
  const leftOut = /^Left out: 5 rows below 1\.00 MiB, \S+ KiB together\./;
  assert.match(await text(".panel-content > .note"), leftOut);
  assert.equal(await param(page, "min"), "1MiB");
  await openPanel("tf_leak", "breakdown", "&min=1MiB");
  assert.match(await text(".panel-content > .note"), leftOut, "the address brings it back");
  await openPanel("tf_leak", "breakdown", "&min=512KiB&group=path");
  assert.equal(await page.inputValue(".breakdown-options select"), "512KiB", "a size of one's own");
  assert.ok(await page.isChecked(".breakdown-options input"));
  assert.ok(await page.isVisible("text=open all"));
});

test("grouped by op path, by keyboard: right opens, left closes, a group sums up", async () => {
  await openPanel("tf_with_tpu_modules", "breakdown");
  await page.check(".breakdown-options input");
  await settle(page);
  const group = page.locator("tr[aria-expanded=false]", { hasText: "gradient_tape" });
  const before = await names();
  assert.ok(!before.some((name) => name.includes("/")));
  await group.focus();
  await page.keyboard.press("ArrowRight");
  await settle(page);
  const opened = page.locator("tr[aria-expanded=true]", { hasText: "gradient_tape" });
  const inside = page.locator("tr[aria-level='2']");
  assert.ok((await inside.count()) >= 2);
  const totals = await inside
    .locator(".col-total .figure")
    .evaluateAll((nodes) => nodes.map((node) => Number(node.title.replace(/\D/g, ""))));
  const sum = Number((await opened.locator(".col-total .figure").getAttribute("title")).replace(/\D/g, ""));
  assert.equal(
    totals.reduce((a, b) => a + b, 0),
    sum,
  );
  const shown = await names();
  await page.reload();
  await page.waitForSelector("tr[aria-level='2']");
  await settle(page);
  assert.deepEqual(await names(), shown, "what is open is in the address");
  await group.or(opened).focus();
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.deepEqual(await names(), before);
});

test("leaks: the verdict names the op that grows, its row shows the growth and the allocations behind it", async () => {
  await openPanel("tf_leak", "leaks");
  assert.match(await text(".panel-verdict"), /Relu grew by 1\.00 MiB/);
  assert.equal((await names())[0], "▸Relu");
  assert.equal(await page.locator(".step-bar").count(), 12);
  const first = page.locator(".leaks-grid tr[data-row]").first();
  assert.match(await first.textContent(), /1\.00 MiB.*12\.00 MiB/);
  await first.focus();
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector("tr.child >> text=event");
  assert.equal(await page.locator("tr.child").count(), 12);
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await text("#dock"), /Relu/);
  const { lines } = await csvOf();
  assert.match(lines[0], /HeldAtEndOfStep0Bytes,.*HeldAtEndOfStep11Bytes$/);
  assert.match(lines[1], /^Relu,1048576,1048576,12582912,12582912,12,/);
  assert.deepEqual(page.complaints, []);
});

test("leaks: a bar leads to the end of its step", async () => {
  await openPanel("tf_leak", "leaks");
  await page.click(".step-bar >> nth=4");
  await settle(page);
  assert.match(await text("#dock"), /step\s*4/);
});

test("churn: ops by what they allocated, histograms that hold every allocation", async () => {
  await openPanel("tf_leak", "churn");
  assert.match(
    await text(".panel-controls .facts"),
    /^252 allocations: 58\.82 MiB requested, 63\.39 MiB allocated, 1\.08 ×/,
  );
  const counts = await page.$$eval(".histogram-block:first-child .kind-count", (cells) =>
    cells.map((cell) => Number(cell.textContent.replaceAll("\u202f", ""))),
  );
  assert.equal(
    counts.reduce((sum, count) => sum + count, 0),
    252,
  );
  await page.click("button[data-sort=count]");
  await settle(page);
  assert.equal(await param(page, "sort"), "count");
  const sorted = await page.$$eval(".churn-grid td.col-count", (cells) =>
    cells.map((cell) => Number(cell.textContent)),
  );
  assert.deepEqual(
    sorted,
    [...sorted].sort((a, b) => b - a),
  );
});

test("fragmentation: the failing moment is said, drawn and one click away", async () => {
  await openPanel("tf_oom", "fragmentation");
  assert.match(await text(".panel-verdict"), /stalled for 10\.0 s .* a request above 16\.00 MiB failed here/);
  assert.match(
    await text(".request-sentence"),
    /^At the peak, .*: a request above 12\.00 MiB fails here although 22\.00 MiB are free\.$/,
  );
  const before = await picture(page, ".free-canvas");
  await page.click(".moments-grid tr.failed >> nth=0");
  await page.waitForFunction(() => new URLSearchParams(location.search).get("from"));
  await settle(page);
  await settle(page);
  assert.match(
    await text(".request-sentence"),
    /^At the chosen time, 277\.764 ms: a request above 16\.00 MiB fails here although 54\.00 MiB/,
  );
  assert.notEqual(await picture(page, ".free-canvas"), before);
  assert.deepEqual(page.complaints, []);
});

test("fragmentation: the sentence follows the mouse", async () => {
  await openPanel("tf_oom", "fragmentation", "&idle=whole");
  await page.locator(".free-chart").scrollIntoViewIfNeeded();
  await page.mouse.move(...(await boxOf(page, ".free-area")).at(0.3, 0.5));
  await settle(page);
  assert.match(
    await text(".request-sentence"),
    /^Under the mouse, .*16\.00 MiB fails here although 54\.00 MiB are free/,
  );
});

test("events: those of the window, by keyboard, as CSV", async () => {
  await openPanel("tf_leak", "events");
  assert.match(await text(".panel-controls .facts"), /^467 events from/);
  await page.locator(".events-grid tr[data-row]").first().focus();
  await page.keyboard.press("End");
  await settle(page);
  assert.equal(await page.evaluate(() => document.activeElement.firstChild.textContent), "467");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await text("#dock"), /event 467 of 467/);
  const { lines } = await csvOf();
  assert.equal(lines.length, 468);
  assert.match(lines[467], /^466,\d+,/);
});

test("events: a narrower window holds fewer, and those unexplained can be asked for alone", async () => {
  await openPanel("tf_leak", "events", "&from=0&to=50000000000");
  const [count] = (await text(".panel-controls .facts")).match(/^\d+/);
  assert.ok(Number(count) > 0 && Number(count) < 467);
  await page.check(".check input");
  await settle(page);
  assert.match(await text(".panel-controls .facts"), /unexplained event/);
});

test("every panel keeps to the page's width and says its figures in the unit that was chosen", async () => {
  for (const panel of ["breakdown", "leaks", "churn", "fragmentation", "events"]) {
    await openPanel("tf_oom", panel, "&unit=bytes");
    const over = await page.$$eval(".panel-body .table-scroll", (boxes) =>
      boxes.map((box) => box.scrollWidth - box.clientWidth),
    );
    assert.deepEqual(
      over,
      over.map(() => 0),
      panel,
    );
    assert.ok((await page.locator(".panel-body .row-grid .exact").count()) > 0, panel);
  }
  assert.deepEqual(page.complaints, []);
});

test("an answer that does not come is said in the server's words, with a way to ask again", async () => {
  await page.route("**/memory_profile/steps?**", (route) =>
    route.fulfill({
      status: 500,
      json: { error: { code: "io", message: "The file went away.", file: "x.pb", offset: 7 } },
    }),
  );
  await open(page, server, at("tf_leak", "leaks"));
  await page.waitForSelector(".panel-message .error-line");
  assert.match(await text(".panel-message .error-line"), /^The file went away\. \(x\.pb, byte 7\)$/);
  await page.unroute("**/memory_profile/steps?**");
  await page.click("text=Try again");
  await page.waitForSelector(".panel-content:not([hidden])");
  assert.match(await text(".panel-verdict"), /Relu/);
});
