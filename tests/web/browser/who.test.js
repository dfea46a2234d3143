// "Who holds it": by mouse and by keyboard, on a program that does not fit.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { boxOf, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";

const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
const BARS = "canvas[data-order=size]";
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

const row = (key) => page.locator(`.who-grid tr[data-row="group ${key}"]`);
const cells = (line) => line.locator("td").allTextContents();
const title = () => page.textContent(".who h2");

test("the lines that hold most stand first, the rest is said in one sentence", async () => {
  await open(page, server, OOM);
  assert.equal(await title(), "Who holds it at the peak");
  assert.equal(await page.locator(".who-grid tr[data-row]").count(), 5);
  const [key, about, size, share, buffers, padding] = await cells(page.locator(".who-grid tr[data-row]").first());
  assert.deepEqual([key, about, size, share, buffers], ["▸train.py:53", "attention", "33.09 GiB", "62.6 %", "34"]);
  assert.match(await row("train.py:53").locator("td").first().getAttribute("title"), /^\/.*\/train\.py:53$/);
  assert.equal(padding, "23.00 MiB");
  assert.match(await page.textContent("#who-rest"), /16 more hold 2\.95 GiB, 5\.6 %/);
  await page.click("#who-rest");
  assert.equal(await page.getAttribute(".who-grid", "aria-rowcount"), "22");
  assert.equal(await page.textContent("#who-rest"), "▾ only the first five");
  assert.deepEqual(page.complaints, []);
});

test("a row under the mouse is lit in the charts, a click pins it in the address, Esc lets go", async () => {
  await open(page, server, `${OOM}&panel=table`);
  await page.mouse.move(2, 2);
  await settle(page);
  const before = await picture(page, BARS);
  const all = await page.textContent("#table-count");
  await row("train.py:53").hover();
  await settle(page);
  const lit = await picture(page, BARS);
  assert.notEqual(lit, before);
  assert.equal(await page.textContent("#table-count"), all, "the table stays while the mouse wanders");
  await row("train.py:53").click();
  await settle(page);
  assert.equal(await param(page, "holder"), "train.py:53");
  assert.match(await page.textContent("#table-count"), /^34 of 391 buffers, 33\.09 GiB/);
  await open(page, server, page.url());
  assert.match(await page.textContent("#table-count"), /^34 of 391 buffers, 33\.09 GiB/);
  assert.equal(await row("train.py:53").getAttribute("aria-selected"), "true");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.equal(await param(page, "holder"), null);
  assert.equal(await page.textContent("#table-count"), all);
});

/** Whether the canvas over the curve is filled at a step, a share of its height above the foot. */
const isBandAt = (step, share) =>
  page.evaluate(
    ([at, up]) => {
      const canvas = document.querySelector(".curve canvas.overlay");
      const x = Math.round(((at + 0.5) / 1026) * canvas.width);
      return canvas.getContext("2d").getImageData(x, Math.round((1 - up) * canvas.height), 1, 1).data[3] > 0;
    },
    [step, share],
  );

test("a pinned group is lit at every step: its band under the curve, the table of another step", async () => {
  await open(page, server, `${OOM}&panel=table&step=900`);
  assert.deepEqual([await isBandAt(350, 0.3), await isBandAt(600, 0.3)], [false, false]);
  await open(page, server, `${OOM}&panel=table&step=900&holder=train.py:53`);
  await page.mouse.move(2, 2);
  await settle(page);
  // 33 of 57 GiB of the chart's height at step 350, 27 at 600, 6 at 900, nothing at 20.
  assert.deepEqual([await isBandAt(350, 0.5), await isBandAt(350, 0.7)], [true, false]);
  assert.deepEqual([await isBandAt(600, 0.3), await isBandAt(600, 0.5)], [true, false]);
  assert.equal(await isBandAt(20, 0.02), false);
  assert.match(await page.textContent("#curve-held"), /^train\.py:53 6\.02 GiB$/);
  assert.match(await page.textContent("#table-count"), /^6 of 264 buffers, 6\.02 GiB/);
  const part = await page.locator(".held-part").evaluateAll((all) => all.map((one) => one.style.width));
  assert.equal(part.filter((width) => width !== "0%").length, 1, "a part of the temporary ones alone");
});

test("where the pinned group holds nothing the table says so, and leads to where it holds most", async () => {
  await open(page, server, `${OOM}&panel=table&step=3&holder=train.py:53`);
  assert.equal(await page.locator("text=matches the search >> visible=true").count(), 0);
  for (const name of ["who", "table"]) {
    const said = page.locator(`p.note:has(#${name}-to-group)`);
    assert.equal(
      await said.textContent(),
      "train.py:53 holds nothing at step 3. it holds most at step 322: 36.09 GiB",
    );
  }
  await page.fill("#search", "no such buffer");
  await settle(page);
  await page.click("#table-to-group");
  await settle(page);
  assert.equal(await param(page, "step"), "322");
  assert.match(await page.textContent(".charts"), /None of the \d+ buffers of train\.py:53 live at this step matches/);
});

test("another way to group is chosen by keys, and is in the address", async () => {
  await open(page, server, OOM);
  await page.focus(".ways input:checked");
  for (let i = 0; i < 4; i += 1) await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.equal(await param(page, "by"), "phase");
  assert.deepEqual(
    (await cells(row("saved for backward"))).filter((_, i) => [0, 1, 2, 4].includes(i)),
    ["▸saved for backward", "made forward, read backward", "38.72 GiB", "156"],
  );
});

test("an open row lists its buffers, equal ones in one line; a click there pins the buffer", async () => {
  await open(page, server, OOM);
  await row("train.py:53").focus();
  await page.keyboard.press("ArrowRight");
  const member = page.locator('.who-grid tr[aria-level="2"]').first();
  const [name, about, size, , buffers] = await cells(member);
  assert.match(name, / and 10 alike$/);
  assert.match(about, /^11 × 3\.00 GiB/);
  assert.deepEqual([size, buffers], ["33.00 GiB", "11"]);
  await member.click();
  await settle(page);
  assert.ok(await param(page, "buffer"));
  assert.equal(await param(page, "holder"), null);
});

test("opened rows, the order and whether all are shown are in the address, which brings them back", async () => {
  const member = page.locator('.who-grid tr[aria-level="2"]').first();
  await open(page, server, OOM);
  await row("train.py:53").focus();
  await page.keyboard.press("ArrowRight");
  await page.click("#who-rest");
  await page.click(".who-grid th.col-buffers");
  await settle(page);
  assert.deepEqual(
    [await param(page, "opened"), await param(page, "who"), await param(page, "who_sort")],
    ["train.py:53", "all", "buffers"],
  );
  const shown = await page.locator(".who-grid .col-held").allTextContents();
  await open(page, server, page.url());
  assert.deepEqual(await page.locator(".who-grid .col-held").allTextContents(), shown);
  assert.equal(await member.count(), 1);
  await page.focus(".ways input:checked");
  await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.equal(await param(page, "opened"), null, "other groups");
});

test("at the cursor's step it tells that step, and says so", async () => {
  await open(page, server, `${OOM}&step=512`);
  assert.equal(await title(), "Who holds it at step 512");
  await page.keyboard.press("p");
  await settle(page);
  assert.equal(await title(), "Who holds it at the peak");
});

test("at the peak the groups are asked for once, and before the page is put together", async () => {
  const asked = [];
  const fresh = await newPage(browser, server);
  fresh.on("request", (request) => /memory_view\/(groups|overview)/.test(request.url()) && asked.push(request.url()));
  await open(fresh, server, `${OOM}&module_name=jit_train_step(1)`);
  assert.equal(asked.filter((url) => url.includes("/groups")).length, 1);
  assert.equal(asked.length, 2);
  await fresh.context().close();
});

/** Colours of the bar "by Buffer Size" at the upper edge of its tiles, where no name stands. */
const tints = (shares) =>
  page.evaluate(
    ([selector, all]) => {
      const canvas = document.querySelector(selector);
      return all.map((share) => canvas.getContext("2d").getImageData(share * canvas.width, 2, 1, 1).data.join());
    },
    [BARS, shares],
  );

test("tiles of one line share a tint, those of another have another", async () => {
  await open(page, server, OOM);
  await page.mouse.move(2, 2);
  await settle(page);
  const [line70, line69, line53, again53] = await tints([0.05, 0.17, 0.31, 0.55]);
  assert.equal(line53, again53);
  assert.equal(new Set([line70, line69, line53]).size, 3);
});

const ICICLE = ".who-icicle canvas";
const onTop = () => page.textContent(".who-icicle .icicle-path strong");

test("stacks are an icicle: a click shows what goes on from a frame alone, the path leads back", async () => {
  await open(page, server, `${OOM}&by=stack&panel=table`);
  const box = await boxOf(page, ICICLE);
  await page.mouse.click(box.x + 0.3 * box.width, box.y + 4.5 * 20);
  await page.mouse.move(2, 2);
  await settle(page);
  assert.match(await param(page, "holder"), /;train\.py:53$/);
  assert.equal(await onTop(), "train.py:53");
  assert.match(await page.textContent("#table-count"), /^34 of 391 buffers, 33\.09 GiB/);
  await page.click(".who-icicle .icicle-path button >> nth=0");
  await settle(page);
  assert.equal(await param(page, "holder"), null);
  assert.match(await page.textContent("#table-count"), /^391 buffers/);
});

test("the icicle is walked, zoomed and left by keys", async () => {
  await open(page, server, `${OOM}&by=scope`);
  await page.focus(ICICLE);
  for (const key of ["ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await settle(page);
  assert.match(await page.textContent(".who-told"), /^attention:\s+3\d\.\d\d GiB, 6\d\.\d %/);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await param(page, "holder"), "attention");
  await page.focus(ICICLE);
  await page.keyboard.press("Backspace");
  await settle(page);
  assert.equal(await param(page, "holder"), null);
});

test("options: a search in the groups, another weight, frameworks that are remembered", async () => {
  const fresh = await newPage(browser, server);
  const keys = () => fresh.locator(".who-grid .col-held").allTextContents();
  await open(fresh, server, OOM);
  await fresh.click("#who-options-fold");
  await fresh.fill("#who-search", "params");
  await settle(fresh);
  assert.match(await fresh.textContent(".who"), /▸ \d+ more hold/);
  assert.deepEqual((await keys()).slice(1, 3), ["▸params.layers", "▸params.emb"]);
  await fresh.fill("#who-search", "no such line");
  await settle(fresh);
  assert.match(await fresh.textContent(".who"), /None of the 21 groups matches the search\./);
  await fresh.fill("#who-search", "");
  await fresh.selectOption("#who-weight", "padding");
  await settle(fresh);
  assert.equal(await param(fresh, "weight"), "padding");
  const shares = await fresh.locator(".who-grid td.col-share").allTextContents();
  assert.deepEqual(shares.slice(0, 1), ["61.8 %"]);
  await fresh.selectOption("#who-weight", "size");
  await fresh.fill("#who-frameworks", "+train.py");
  await fresh.press("#who-frameworks", "Enter");
  await settle(fresh);
  assert.equal(await param(fresh, "frameworks"), "+train.py");
  await open(fresh, server, "?run=v5e_gpt_scan&tag=memory_viewer");
  assert.equal(await param(fresh, "frameworks"), "+train.py", "remembered");
  assert.equal(await fresh.inputValue("#who-frameworks"), "+train.py");
  await fresh.context().close();
});
