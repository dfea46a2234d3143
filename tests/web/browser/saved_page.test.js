// A page that was saved: opened from disk, without a network, and used.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { LOGDIR, boxOf, newPage, open, picture, settle, startBrowser, startServer } from "./harness.js";

const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
const LEAK = "?run=tf_leak&tag=memory_profile";
const BARS = "canvas[data-order=size]";
const COMPARED = "?run=v5e_gpt_4layer&tag=compare&run_b=v5e_gpt_scan";
const MESSAGE = readFileSync(path.join(LOGDIR, "../oom_messages/v5e_gpt_12layer_oom.txt"), "utf8");
const folder = mkdtempSync(path.join(tmpdir(), "hbmview-saved-"));
let server, browser;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.stop();
  rmSync(folder, { recursive: true });
});

/** Saves a view by its button; what comes is opened from disk by a browser that reaches nothing. */
async function saved(query, look = async () => {}) {
  const page = await newPage(browser, server, { acceptDownloads: true });
  await open(page, server, query);
  await look(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.click("#save-page")]);
  const file = path.join(folder, download.suggestedFilename());
  await download.saveAs(file);
  await page.context().close();
  return file;
}

async function fromDisk(file, query = "") {
  const place = { url: pathToFileURL(file).href };
  const page = await newPage(browser, place, { offline: true });
  await open(page, place, query && `${place.url}#${query}`);
  return page;
}

const state = (page, key) => page.evaluate((name) => new URLSearchParams(location.hash.slice(1)).get(name), key);

test("the Memory Viewer hovers, pins and searches from disk", async () => {
  const file = await saved(OOM);
  assert.equal(path.basename(file), "v5e_gpt_12layer_oom jit_train_step(1).html");
  const page = await fromDisk(file);
  assert.match(await page.textContent(".headline-figures"), /^52\.90 GiB/);
  assert.match(await page.textContent(".who"), /train\.py:53/);
  const still = await picture(page, BARS);
  await page.mouse.move(...(await boxOf(page, BARS)).at(0.2, 0.5));
  await settle(page);
  assert.notEqual(await picture(page, BARS), still);
  await page.waitForSelector(".card-stack .stack li", { state: "attached" }); // the dock may be one line
  await page.mouse.click(...(await boxOf(page, BARS)).at(0.2, 0.5));
  await settle(page);
  assert.ok(await state(page, "buffer"));
  await page.keyboard.press("/");
  await page.keyboard.type("fusion.13");
  await settle(page);
  assert.equal(await state(page, "filter"), "fusion.13");
  assert.deepEqual(page.complaints, []);
  await page.reload();
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("filter") === "fusion.13");
  await page.context().close();
});

test("other memory types and ways to group are in the page, what is not is said", async () => {
  const page = await fromDisk(await saved(OOM), `${OOM}&by=phase`);
  assert.match(await page.textContent(".who"), /saved for backward/);
  await page.goto(page.url().replace(/#.*/, `#${OOM}&step=12`));
  await page.reload();
  await page.waitForFunction(() => /this saved page has the peak/.test(document.querySelector(".who")?.textContent));
  await page.goto(page.url().replace(/#.*/, `#${OOM}&memory_space=1`));
  await page.reload();
  await page.waitForFunction(() => /VMEM/.test(document.querySelector(".headline-name")?.textContent));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("what was looked at before is in the page", async () => {
  const page = await fromDisk(await saved(`${OOM}&step=12`));
  assert.match(await page.textContent(".readout"), /step 12,/);
  assert.doesNotMatch(await page.textContent(".who"), /saved page/);
  await page.context().close();
});

test("the Memory Profile zooms, steps through events and lists them from disk", async () => {
  const file = await saved(LEAK);
  const page = await fromDisk(file, `${LEAK}&panel=events`);
  assert.match(await page.textContent(".headline-figures"), /^15\.89 MiB/);
  await page.waitForFunction(() => /464 of/.test(document.querySelector(".card-head")?.textContent));
  await page.keyboard.press("ArrowLeft");
  await page.waitForFunction(() => /463 of/.test(document.querySelector(".card-head")?.textContent));
  await page.keyboard.press("w");
  await page.waitForFunction(() => new URLSearchParams(location.hash.slice(1)).get("from") !== null);
  await settle(page);
  await page.waitForFunction(() => /\d events from .* ms/.test(document.querySelector("#main").textContent));
  assert.match(await page.textContent(".events-grid"), /allocation.*_MklMatMul|_MklMatMul/s);
  assert.doesNotMatch(await page.textContent("#main"), /not in it|no closer look/);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("a comparison groups, pins, searches and foretells from disk", async () => {
  const file = await saved(COMPARED);
  assert.equal(path.basename(file), "v5e_gpt_4layer jit_train_step(1) to v5e_gpt_scan jit_train_step(1).html");
  const page = await fromDisk(file);
  assert.match(await page.textContent(".compare-peak"), /^peak 500\.51 MiB → 6\.86 GiB: \+6\.37 GiB/);
  await page.getByRole("radiogroup", { name: "group by" }).getByText("category").click();
  await page.locator(".compare-groups tr[data-row]", { hasText: "donated" }).waitFor();
  await page.locator(".compare-groups tr[data-row]").first().click();
  await settle(page);
  assert.match(await page.textContent(".chart:has(.compare-buffers)"), /of donated/);
  await page.keyboard.press("/");
  await page.keyboard.type("train.py");
  await settle(page);
  assert.equal(await state(page, "by"), "category");
  await page.focus("#foretold");
  await page.keyboard.press("Enter");
  await page.waitForSelector(".compare-foretold tr[data-row]");
  await page.keyboard.press("Tab");
  await page.keyboard.press("x");
  await page.waitForFunction(() => /compares these two programs/.test(document.querySelector("#main").textContent));
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});

test("an out-of-memory answer opens from disk, with the program that it is about", async () => {
  const file = await saved("?tag=out_of_memory&capacity=15.75GiB", async (page) => {
    await page.fill("#oom-text", `noise\n${MESSAGE}`);
    await page.click(".oom-send");
    await page.waitForSelector(".oom-message");
    await settle(page);
  });
  assert.equal(path.basename(file), "out of memory.html");
  const page = await fromDisk(file);
  await page.waitForSelector(".oom-message");
  assert.match(await page.textContent(".oom-holders"), /train\.py:53/);
  assert.doesNotMatch(await page.locator("#main").innerText(), /link holds|Too long for a link|Another message/);
  await page.getByText("All advice").click();
  await page.waitForSelector(".advice-table");
  assert.equal(await state(page, "module_name"), "jit_train_step(1)");
  await page.goBack();
  await page.waitForSelector(".oom-message");
  await page.click("#oom-edit");
  await page.fill("#oom-text", "Out of memory while trying to allocate 21474836480 bytes.");
  await page.click(".oom-send");
  await page.waitForFunction(() => /for this text and this capacity/.test(document.querySelector("#main").textContent));
  await page.reload();
  await page.waitForSelector(".oom-message");
  assert.deepEqual(page.complaints, []);
  await page.context().close();
});
