import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { boxOf, newPage, open, param, picture, settle, startBrowser, startServer, copiedBy } from "./harness.js";

const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
const TABLE = `${OOM}&panel=table`;
const BARS = ["program", "size", "padding"].map((order) => `canvas[data-order=${order}]`);
const CURVE_OVERLAY = ".u-over canvas";
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

const cardName = () => page.textContent(".card-head h2");
const facts = () => page.textContent(".bars .facts");

test("the overview speaks XProf's words, in the figures of this program", async () => {
  await open(page, server, OOM);
  const words = await page.textContent(".overview");
  for (const label of [
    "Peak memory allocation",
    "(with fragmentation)",
    "total padding overhead",
    "total argument size",
    "stack simulated HLO temporary variables",
    "HLO lifetime temporary variables with fragmentation",
  ]) {
    assert.ok(words.includes(label), label);
  }
  assert.match(await page.textContent(".headline-figures"), /^52\.90 GiB peak$/);
  assert.match(await page.textContent(".headline-name"), /v5e_gpt_12layer_oom \/ jit_train_step\(1\) HBM/);
  assert.match(await page.textContent(".legend"), /Donated.*1\.81 GiB.*Temporary at peak.*51\.09 GiB/);
  assert.match(await page.textContent(".composition-line"), /Donated.*1\.81 GiB.*Temporary at peak.*51\.09 GiB/);
  assert.deepEqual(page.complaints, []);
});

test("hovering one bar shows the buffer in every chart and in the card", async () => {
  await open(page, server, OOM);
  await page.click("#dock-fold");
  await settle(page);
  const watched = [...BARS, CURVE_OVERLAY];
  const beforeHover = await Promise.all(watched.map((one) => picture(page, one)));
  await page.mouse.move(...(await boxOf(page, BARS[1])).at(0.2, 0.5));
  await settle(page);
  const afterHover = await Promise.all(watched.map((one) => picture(page, one)));
  watched.forEach((one, i) => assert.notEqual(afterHover[i], beforeHover[i], one));
  assert.match(await page.textContent(".card"), /Size.*GiB.*Buffer ID.*Shape and minor-to-major order/s);
  await page.waitForSelector(".dimensions tbody tr");
  await page.click("#dock-fold");
});

test("the card's source opens the editor that was chosen once", async () => {
  const pinned = `${OOM}&buffer=11471`;
  await open(page, server, pinned);
  await page.waitForSelector(".card-stack .editor-choose");
  assert.equal(await page.locator(".card-stack a").count(), 0);
  await page.focus(".card-stack .editor-choose");
  await page.keyboard.press("Enter");
  await page.fill(".editor-dialog [name=from]", "/home/u/");
  await page.fill(".editor-dialog [name=to]", "/w/my code/");
  assert.match(await page.textContent(".editor-dialog [role=status]"), /^vscode:/);
  await page.selectOption(".editor-dialog [name=editor]", "cursor");
  await page.click(".editor-dialog >> text=Keep");
  const link = () => page.getAttribute(".card-stack .source-link a", "href");
  assert.equal(await link(), "cursor://file/w/my%20code/jax/train.py:70");
  await open(page, server, pinned);
  await page.waitForSelector(".card-stack .source-link a");
  assert.equal(await link(), "cursor://file/w/my%20code/jax/train.py:70");
  assert.deepEqual(page.complaints, []);
});

test("a card whose details cannot be had says so, and does not wait for them", async () => {
  const error = { code: "damaged", message: "The buffer cannot be read." };
  await page.route("**/api/v1/buffer?**", (route) => route.fulfill({ status: 422, json: { error } }));
  await open(page, server, OOM);
  assert.match(await page.textContent(".card-stack"), /The buffer cannot be read/);
  assert.doesNotMatch(await page.textContent(".card"), /reading/);
  await page.unroute("**/api/v1/buffer?**");
});

test("a click pins the buffer, a reload keeps it, Esc lets go", async () => {
  await open(page, server, OOM);
  const [x, y] = (await boxOf(page, BARS[1])).at(0.3, 0.5);
  await page.mouse.click(x, y);
  await settle(page);
  const name = await cardName();
  const buffer = await param(page, "buffer");
  assert.ok(buffer);
  await page.mouse.move(x, 20);
  await page.reload();
  await page.waitForSelector(".card-head h2");
  await settle(page);
  assert.equal(await cardName(), name);
  assert.match(await page.textContent(".card-sub"), /pinned/);
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await param(page, "buffer"), null);
});

test("the wheel zooms at the cursor, a drag pans, a double click shows everything", async () => {
  await open(page, server, OOM);
  const at = (await boxOf(page, ".u-over")).at;
  await page.mouse.move(...at(0.5, 0.5));
  await page.mouse.wheel(0, -300);
  await settle(page);
  const zoomed = (await param(page, "zoom")).split(",").map(Number);
  assert.ok(zoomed[0] > 0);
  await page.mouse.down();
  await page.mouse.move(...at(0.7, 0.5), { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const panned = (await param(page, "zoom")).split(",").map(Number);
  assert.ok(panned[0] < zoomed[0]);
  assert.equal(await param(page, "step"), null, "a drag is not a click");
  await page.mouse.dblclick(...at(0.5, 0.5));
  await settle(page);
  assert.equal(await param(page, "zoom"), null);
  assert.equal(await param(page, "step"), null, "a double click chooses no step");
});

test("keys zoom, pan and step; p goes back to the peak", async () => {
  await open(page, server, OOM);
  await page.keyboard.press("w");
  await page.keyboard.press("w");
  await settle(page);
  const zoomed = await param(page, "zoom");
  await page.keyboard.press("d");
  await settle(page);
  assert.notEqual(await param(page, "zoom"), zoomed);
  await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.match(await page.textContent(".bars h2"), /chosen step/);
  await page.keyboard.press("p");
  await settle(page);
  assert.match(await facts(), /^At peak/);
  await page.keyboard.press("0");
  await settle(page);
  assert.equal(await param(page, "zoom"), null);
});

test("a click on the curve shows what is live there, and the way back", async () => {
  await open(page, server, TABLE);
  const atPeak = await page.textContent("#table-count");
  await page.mouse.click(...(await boxOf(page, ".u-over")).at(0.85, 0.5));
  await settle(page);
  assert.match(await facts(), /^\(step [^,]+, \S+\)\s+\d+ buffers/);
  assert.notEqual(await page.textContent("#table-count"), atPeak);
  await page.click("#back-to-peak");
  await settle(page);
  assert.equal(await page.textContent("#table-count"), atPeak);
});

test("the timeline: hover names the smallest block, click pins it, wheel zooms both ways", async () => {
  await open(page, server, OOM);
  await page.locator(".blocks").scrollIntoViewIfNeeded();
  const at = (await boxOf(page, ".blocks-base")).at;
  assert.match(await page.textContent("#blocks-merged"), /blocks, .* under a pixel merged/);
  await page.mouse.move(...at(0.4, 0.5));
  await settle(page);
  await page.mouse.click(...at(0.4, 0.5));
  await settle(page);
  assert.ok(await param(page, "buffer"));
  await page.mouse.wheel(0, -200);
  await settle(page);
  assert.equal((await param(page, "zoom")).split(",").length, 4);
  await page.click("#reset-zoom");
  await settle(page);
  assert.equal(await param(page, "zoom"), null);
  await page.keyboard.press("Escape");
});

test("search dims and filters, Enter goes through the matches", async () => {
  await page.mouse.move(2, 2);
  await open(page, server, TABLE);
  const before = await picture(page, BARS[1]);
  await page.keyboard.press("/");
  await page.keyboard.type("fusion");
  await settle(page);
  assert.equal(await param(page, "filter"), "fusion");
  assert.match(await page.textContent("#table-count"), / of \d+ buffers/);
  assert.notEqual(await picture(page, BARS[1]), before);
  await page.keyboard.press("Enter");
  await settle(page);
  const first = await param(page, "buffer");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.notEqual(await param(page, "buffer"), first);
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await param(page, "filter"), null);
});

test("Enter in the search shows the match in the card, wherever the mouse rests", async () => {
  await open(page, server, OOM);
  await page.mouse.move(...(await boxOf(page, BARS[1])).at(0.5, 0.5));
  await settle(page);
  const hovered = await cardName();
  await page.keyboard.press("/");
  await page.keyboard.type("copy.1");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.ok(await param(page, "buffer"));
  assert.notEqual(await cardName(), hovered);
  assert.match(await cardName(), /copy\.1/);
  assert.match(await page.textContent(".card-sub"), /pinned/);
});

test("the table sorts, is walked by keys, and copies as CSV", async () => {
  await open(page, server, TABLE);
  await page.click('.buffers [data-sort="name"]');
  await settle(page);
  assert.equal(await param(page, "sort"), "name");
  await page.click('.buffers [data-sort="size"]');
  await settle(page);
  await page.locator(".buffers tr[data-row]").first().focus();
  const first = await cardNameAfterFrame();
  await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.notEqual(await cardName(), first);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.ok(await param(page, "buffer"));
  const csv = await copiedBy(page, () => page.click(".chart:has(.buffers) >> text=Copy as CSV"));
  const rows = csv.trim().split("\n");
  assert.match(rows[0], /^InstructionName,AllocationType,SizeBytes/);
  assert.equal(rows.length - 1, Number((await page.textContent("#table-count")).match(/^\d+/)[0]));
});

test("a step further, rows that tell the same are the same ones, and all tell what a fresh page does", async () => {
  await open(page, server, TABLE);
  await page.evaluate(() => {
    window.before = [...document.querySelectorAll(".buffers tr[data-row]")];
  });
  await page.keyboard.press("ArrowRight");
  await settle(page);
  const [known, kept] = await page.evaluate(() => {
    const told = window.before.map((row) => row.textContent);
    const now = [...document.querySelectorAll(".buffers tr[data-row]")];
    return [now.filter((row) => told.includes(row.textContent)), now.filter((row) => window.before.includes(row))].map(
      (rows) => rows.length,
    );
  });
  assert.ok(known > 10, `${known} rows are there at both steps`);
  assert.equal(kept, known);
  const rows = () => page.locator(".buffers tr[data-row]").evaluateAll((all) => all.map((row) => row.outerHTML));
  const afterStep = await rows();
  await page.reload();
  await settle(page);
  assert.deepEqual(afterStep, await rows());
});

async function cardNameAfterFrame() {
  await settle(page);
  return cardName();
}

test("nothing went wrong on the way", () => {
  assert.deepEqual(page.complaints, []);
});

test("a mouse that rests does not speak over the keys", async () => {
  await open(page, server, OOM);
  await page.mouse.move(...(await boxOf(page, CURVE_OVERLAY)).at(0.8, 0.5));
  await page.keyboard.press("ArrowRight");
  await settle(page);
  const step = await param(page, "step");
  assert.match(await page.textContent(".readout"), new RegExp(`^step ${step},`));
});

test("the table fills its height, ends with the focused row in the card, and needs no sideways scrolling", async () => {
  await open(page, server, TABLE);
  const [rows, room, sideways] = await page.evaluate(() => {
    const box = document.querySelector(".table-scroll:has(.buffers)");
    const rows = box.querySelectorAll(".buffers tr[data-row]").length;
    return [rows * 22, box.clientHeight, box.scrollWidth - box.clientWidth];
  });
  assert.ok(rows >= room, `${rows} of ${room} pixels`);
  assert.equal(sideways, 0);
  await page.locator(".buffers tr[data-row]").first().hover();
  await page.locator(".buffers tr[data-row]").first().focus();
  await page.keyboard.press("End");
  await settle(page);
  assert.equal(await cardName(), await page.textContent("tr:focus td"));
});

test("the capacity of one memory type is not held against another", async () => {
  await open(page, server, `${OOM}&capacity=15.75GiB`);
  assert.match(await page.textContent(".verdict"), /OVERFLOW/);
  await page.locator("[aria-label='Memory Types'] .entry", { hasText: "VMEM" }).click();
  await settle(page);
  assert.equal(await page.textContent(".verdict"), "");
  await page.locator("[aria-label='Memory Types'] .entry", { hasText: "HBM" }).click();
  await settle(page);
  assert.match(await page.textContent(".verdict"), /OVERFLOW/);
});

test("the program around the pinned buffer opens as text, by keyboard, and is copied and saved", async () => {
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer&buffer=14971");
  await page.waitForSelector(".card-stack .stack li");
  await page.focus("#card-hlo");
  await page.keyboard.press("Enter");
  const text = page.locator(".hlo-dialog pre");
  await text.filter({ hasText: "%fused_computation.20 {" }).waitFor();
  assert.match(await text.textContent(), /^%fusion\.14 = f32\[64,1023,50257\]\{1,2,0:T\(8,128\)\} fusion\(%fusion/);
  assert.match(await page.textContent(".hlo-dialog .note"), /^In main\.184: 3 operands, 1 user\. 1\D?617 operations/);
  const copied = await copiedBy(page, () => page.getByRole("button", { name: "copy all of it" }).click());
  assert.equal(copied, await text.textContent());
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByTitle("as a text file").click()]);
  assert.equal(file.suggestedFilename(), "fusion.14.hlo.txt");
  await page.keyboard.press("Escape");
  await page.waitForFunction(() => document.querySelector(".hlo-dialog") === null);
  assert.equal(await page.evaluate(() => document.activeElement.id), "card-hlo");
});
