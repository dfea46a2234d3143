// The tool "Out of memory" on the real server: paste, drop, file, links, and where there is no session.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { newPage, open, param, settle, startBrowser, startServer, copiedBy } from "./harness.js";

const MESSAGE =
  "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory on HBM, the total " +
  "memory required for HLO temporaries (18.00G) exceeds available HBM (15.75G). HLO module: jit_h.\n";
const OTHER = "Out of memory while trying to allocate 21474836480 bytes.\n";
let browser;
let server;
let empty;
let emptyDir;

before(async () => {
  emptyDir = mkdtempSync(path.join(tmpdir(), "hbmview-page-"));
  [server, empty, browser] = await Promise.all([startServer(), startServer(emptyDir), startBrowser()]);
});

after(async () => {
  await browser?.close();
  server?.stop();
  empty?.stop();
  rmSync(emptyDir, { recursive: true, force: true });
});

async function opened(query = "/?tag=out_of_memory", on = server, options = {}) {
  const page = await newPage(browser, on, options);
  await open(page, on, query);
  return page;
}

/** What the clipboard or a drag hands over, without the system's clipboard. */
function hand(page, type, text, target = "body", file = null) {
  return page.evaluate(
    ([kind, words, selector, name]) => {
      const data = new DataTransfer();
      if (name) data.items.add(new File([words], name));
      else data.setData("text/plain", words);
      const init = { bubbles: true, cancelable: true };
      const event =
        kind === "paste"
          ? new ClipboardEvent(kind, { ...init, clipboardData: data })
          : new DragEvent(kind, { ...init, dataTransfer: data });
      return document.querySelector(selector).dispatchEvent(event);
    },
    [type, text, target, file],
  );
}

async function explained(page) {
  await page.waitForSelector(".oom-message");
  await settle(page);
}

test("a paste anywhere explains the message; the address does not show its words", async () => {
  const page = await opened();
  await page.evaluate(() => document.activeElement.blur());
  assert.equal(await hand(page, "paste", MESSAGE), false, "the page takes the paste");
  await explained(page);
  assert.equal(await page.textContent(".oom-verdict"), "18.00 GiB of 15.75 GiB: OVERFLOW by 2.25 GiB");
  assert.match(await page.textContent(".oom-head"), /E1000.*jit_h/);
  assert.match(await page.textContent(".oom-said"), /pasted text.*1 message$/);
  assert.ok(!page.url().includes("jit_h"));
  assert.deepEqual(page.complaints, []);
});

test("what could not be searched for the program is said below what was found", async () => {
  const page = await opened("/?tag=out_of_memory", empty);
  const unreadable = [{ path: "/logs/plugins/profile/secret", reason: "cannot open the folder: Permission denied" }];
  await page.route("**/api/v1/explain*", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, json: { ...(await answer.json()), unreadable } });
  });
  await hand(page, "paste", MESSAGE);
  await explained(page);
  assert.equal(
    await page.textContent(".oom-message ~ .note"),
    "Not searched: /logs/plugins/profile/secret: cannot open the folder: Permission denied",
  );
  assert.match(await page.textContent(".oom-message"), /session here that could be read/);
  assert.deepEqual(page.complaints, []);
});

test("where message and buffers disagree it is said, and the buffers are drawn to the same scale", async () => {
  const page = await opened();
  await hand(page, "paste", MESSAGE);
  await explained(page);
  assert.match(await page.textContent(".oom-disagree"), /HLO temporaries.*18\.00 GiB of arguments/);
  const [wanted, buffers] = await page.$$eval(".oom-track", (all) =>
    all.map((one) => one.querySelector(".segment").getBoundingClientRect().width),
  );
  assert.ok(Math.abs(wanted - buffers) < 0.01 * wanted, `${wanted} and ${buffers}`);
  const over = await page.locator(".oom-over-part").boundingBox();
  assert.ok(Math.abs(over.width / wanted - 2.25 / 18) < 0.01);
});

test("a program that is at hand gets the cheapest changes that fit, step by step, and what else there is", async () => {
  const page = await opened();
  await hand(page, "paste", MESSAGE);
  const plan = page.locator(".oom-plan");
  await plan.waitFor();
  const told = /^Parameters in bfloat16about 9\.00 GiB in all \(\d\.\d\d GiB to \d+\.\d\d GiB\): fits\.$/;
  assert.match(await plan.textContent(), told);
  const [bar, mark] = await Promise.all(
    [".advice-bar", ".capacity-mark"].map((at) => page.locator(`[data-step="bf16_parameters"] ${at}`).boundingBox()),
  );
  assert.ok(Math.abs(bar.width / (mark.x - bar.x) - 9 / 15.75) < 0.01, "to scale");
  await page.focus(".plan-choice input:checked");
  await page.keyboard.press("ArrowRight");
  await page.waitForSelector('[data-step="shard_parameters"]');
  const sharded = /^Shard the parameters, 4 chipsabout 5\.25 GiB/;
  assert.match(await plan.textContent(), sharded);
  await page.selectOption("#unit", "MiB");
  await page.waitForFunction(() => /MiB/.test(document.querySelector(".oom-plan").textContent));
  await page.selectOption("#unit", "auto");
  await page.waitForFunction(() => /GiB/.test(document.querySelector(".oom-plan").textContent));
  assert.match(await plan.textContent(), sharded, "a redraw keeps the plan that was chosen");
  await page.close();
});

test("a program that found no room stands among those of its session, to scale", async () => {
  const page = await opened("/?tag=out_of_memory&run=h100_programs");
  await hand(
    page,
    "paste",
    "RESOURCE_EXHAUSTED: Error loading program 'jit_gpt_large': Attempting to reserve 7.70G at the bottom of " +
      "memory. That was not possible. There are 903.18M free, 0B reserved, and 901.00M reservable.\n",
  );
  await explained(page);
  const rows = page.locator(".oom-loaded [data-loaded]");
  assert.match(await rows.first().textContent(), /^7\.70 GiB.*jit_gpt_large\(4117\), which found no room$/);
  const [first, second] = await page.$$eval(".oom-loaded .oom-held", (all) =>
    all.map((one) => one.getBoundingClientRect().width),
  );
  assert.ok(Math.abs(first / second - 8267432060 / 222064508) < 4, `${first} and ${second}`);
  assert.match(await page.textContent(".oom-message"), /Evicting the other 7 frees between/);
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("a link leads to the buffer in the Memory Viewer, and back finds the answer again", async () => {
  const page = await opened();
  await hand(page, "paste", MESSAGE);
  await explained(page);
  await page.click(".oom-evidence > summary");
  await page.click(".oom-largest tbody tr:first-child a");
  await page.waitForSelector(".blocks-base, .bar-canvas");
  await settle(page);
  assert.equal(await param(page, "run"), "v5e_arguments_oom");
  assert.notEqual(await param(page, "buffer"), null);
  assert.match(await page.textContent(".card-head"), /parameter/);
  await page.goBack();
  await explained(page);
  assert.match(await page.textContent(".oom-head"), /jit_h/);
  assert.deepEqual(page.complaints, []);
});

const linked = (page) => page.waitForFunction(() => location.hash.startsWith("#log="));

test("the address holds the answer: a reload and a colleague see it, also of a long log", async () => {
  const page = await opened();
  const log = `${"noise of step 12\n".repeat(20000)}${MESSAGE}${"more noise\n".repeat(500)}`;
  await hand(page, "drop", log, "body", "a.log");
  await explained(page);
  await linked(page);
  const url = page.url();
  assert.ok(url.length < 1000, url);
  await page.reload();
  await explained(page);
  assert.match(await page.textContent(".oom-verdict"), /^18\.00 GiB of 15\.75 GiB/);
  assert.match(await page.textContent(".oom-said"), /the link, \d+ B: 1 message/);
  assert.ok(await page.isHidden("#oom-text"), "the text is folded away");
  const copied = await copiedBy(page, () => page.click("#copy-link"));
  assert.equal(new URL(copied).hash, new URL(url).hash);
  const other = await newPage(browser, server);
  await other.goto(copied);
  await explained(other);
  assert.match(await other.textContent(".oom-joined"), /v5e_arguments_oom/);
  await page.click("#oom-another");
  await page.waitForFunction(() => location.hash === "");
  assert.deepEqual(page.complaints, []);
});

test("a compressed log is read as what it holds, also by the link", async () => {
  const page = await opened();
  const log = gzipSync(`${"noise of step 12\n".repeat(20000)}${MESSAGE}`);
  await page.setInputFiles("#oom-file", { name: "a.log.gz", mimeType: "application/gzip", buffer: log });
  await explained(page);
  assert.match(await page.textContent(".oom-said"), /^a\.log\.gz, 332\.\d+ KiB: 1 message/);
  await linked(page);
  await page.reload();
  await explained(page);
  assert.match(await page.textContent(".oom-verdict"), /^18\.00 GiB of 15\.75 GiB/);
  await page.click("#oom-another");
  await page.setInputFiles("#oom-file", { name: "cut.gz", mimeType: "application/gzip", buffer: log.subarray(0, 6) });
  await page.waitForSelector(".message >> text=the gzip stream ends early");
  assert.deepEqual(page.complaints, []);
});

test("a link that was cut off says so", async () => {
  const page = await newPage(browser, server);
  await page.goto(`${server.url}/?tag=out_of_memory#log=NU9NS8NAEL33V8yxBdmklSDurdalQZR`);
  await page.waitForSelector(".message >> text=The text in this link cannot be read");
  assert.ok(await page.isVisible("#oom-text"));
});

test("the answer stands in order: who holds it, the plan, other changes, the advice of that program", async () => {
  const page = await opened("/?run=v5e_gpt_4layer&tag=out_of_memory");
  const text = MESSAGE.replace("18.00G", "52.93G").replace("jit_h", "jit_train_step");
  await hand(page, "paste", text);
  await explained(page);
  assert.match(await page.textContent(".oom-joined"), /in v5e_gpt_12layer_oom/, "not the open session's program");
  const first = await page.textContent(".oom-holders tbody tr:first-child");
  assert.match(first, /33\.09 GiB.*62\.6 %.*train\.py:53.*11 x 3\.00 GiB and 23 more.*attention/);
  const tops = await page.$$eval(".oom-verdict, .oom-holders, .oom-plan, .oom-fixes", (all) =>
    all.map((one) => [one.className, one.getBoundingClientRect().top]),
  );
  assert.deepEqual(
    tops.map(([name]) => name.split(" ").at(-1)),
    ["oom-verdict", "oom-holders", "oom-plan", "oom-fixes"],
  );
  const fix = page.locator('[data-fix="shard_all"]');
  // Compiled so it takes 15.64 of 15.75 GiB, with 41 instructions named .remat: the compiler has squeezed it.
  const saves = /^Shard parameters and batch, 4 chips.*saves 31\.60 GiB → 21\.33 GiB \(12\.98 GiB to .* may fit/;
  assert.match(await fix.textContent(), saves);
  assert.ok(await fix.locator("pre").isHidden());
  await fix.locator("summary").focus();
  await page.keyboard.press("Enter");
  assert.ok(await fix.locator("pre").isVisible());
  assert.equal(await page.locator('[data-fix="donate_inputs"]').count(), 0, "the program excludes it");
  const chips = await page.$$eval(".oom-chip", (all) => all.map((one) => one.textContent.split(", ")[0].toLowerCase()));
  const codes = await page.$$eval("pre", (all) => all.map((one) => one.textContent));
  const parts = /over (\d+) micro-batches/.exec(chips.join())[1];
  assert.ok(
    codes.some((code) => code.includes(`batch.reshape(${parts}, -1`)),
    "the code is not that of the plan",
  );
  await page.click("text=All advice");
  await page.waitForSelector(".advice-table");
  await settle(page);
  assert.equal(await param(page, "run"), "v5e_gpt_12layer_oom");
  const planned = await page.textContent(".advice-plan");
  assert.match(planned, /^The plan: /);
  assert.ok(chips.length > 0 && chips.every((name) => planned.includes(name)), `${chips}: ${planned}`);
  assert.deepEqual(page.complaints, []);
});

test("a program of another session than the open one is found", async () => {
  const page = await opened("/?run=v5e_matmul&tag=out_of_memory");
  await hand(page, "paste", MESSAGE);
  await explained(page);
  assert.match(await page.textContent(".oom-joined"), /v5e_arguments_oom/);
});

test("a dropped file is read wherever it falls", async () => {
  const page = await opened();
  await hand(page, "dragover", "");
  assert.ok(await page.evaluate(() => document.body.classList.contains("oom-over")));
  await hand(page, "drop", `${"noise\n".repeat(50000)}${MESSAGE}`, "#side", "train.log");
  await explained(page);
  assert.match(await page.textContent(".oom-said"), /train\.log, 293\.\d+ KiB: 1 message/);
  assert.ok(!(await page.evaluate(() => document.body.classList.contains("oom-over"))));
});

test("an opened file, and Ctrl+Enter in the field, do the same", async () => {
  const page = await opened();
  await page.setInputFiles("#oom-file", { name: "a.log", mimeType: "text/plain", buffer: Buffer.from(MESSAGE) });
  await explained(page);
  await page.click("#oom-another");
  assert.ok(await page.evaluate(() => document.activeElement.id === "oom-text"));
  await page.keyboard.insertText(OTHER);
  await page.keyboard.press("Control+Enter");
  await explained(page);
  assert.match(await page.textContent(".oom-sentence"), /20\.00 GiB/);
});

test("a field keeps its own pasting, and so does a text that is being edited", async () => {
  const page = await opened();
  assert.equal(await hand(page, "paste", MESSAGE, "#oom-capacity"), true);
  await page.fill("#oom-text", "first half");
  assert.equal(await hand(page, "paste", MESSAGE, "#oom-text"), true);
  await page.fill("#oom-text", "");
  assert.equal(await hand(page, "paste", MESSAGE, "#oom-text"), false);
  await explained(page);
});

test("several messages: each has its place, listed at the left, j and k go between them", async () => {
  const page = await opened();
  await hand(page, "paste", MESSAGE.repeat(3) + OTHER);
  await explained(page);
  assert.equal(await page.locator(".oom-message").count(), 2);
  assert.match(await page.locator(".oom-head").first().textContent(), /3 times in the log/);
  assert.equal(await page.locator(".oom-side .entry").count(), 2);
  const focused = () =>
    page.evaluate(() => [...document.querySelectorAll(".oom-message")].indexOf(document.activeElement));
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("j");
  assert.equal(await focused(), 0);
  await page.keyboard.press("j");
  assert.equal(await focused(), 1);
  await page.keyboard.press("k");
  assert.equal(await focused(), 0);
  await page.click(".oom-side li:nth-child(2) button");
  assert.equal(await focused(), 1);
});

test("the example shows the breakdown, the allocations and fixes with code to copy", async () => {
  const page = await opened();
  await page.click("text=Try an example");
  await explained(page);
  assert.match(await page.textContent(".oom-breakdown"), /reserved/);
  assert.equal(await page.locator(".oom-largest tbody tr").count(), 3);
  assert.match(await page.textContent(".oom-largest"), /model\.py:55/);
  assert.match(await page.textContent(".oom-largest"), /f32\[8,64,2048,2048\]\{3,2,1,0:T\(8,128\)\}/);
  await page.click(".oom-fixes li:first-child summary");
  const code = await page.textContent(".oom-fixes li:first-child pre");
  assert.equal(await copiedBy(page, () => page.click(".oom-fixes li:first-child .copy")), code);
  await page.click("#oom-edit");
  assert.match(await page.inputValue("#oom-text"), /Ran out of memory in memory space hbm/);
  assert.deepEqual(page.complaints, []);
});

test("a text without a message: what was looked for", async () => {
  const page = await opened();
  await page.fill("#oom-text", "all went well");
  await page.click(".oom-send");
  await page.waitForSelector(".message >> text=No out-of-memory message found.");
  assert.equal(await page.locator(".oom-wordings dt").count(), 8);
  assert.ok(await page.isVisible("#oom-text"), "the text stays, to be corrected");
});

test("a log directory without a session has the tool, in its list and by its address", async () => {
  const page = await opened("/?tag=out_of_memory", empty);
  await hand(page, "paste", MESSAGE);
  await explained(page);
  assert.match(await page.textContent(".oom-why"), /No session here holds jit_h/);
  await page.selectOption("#pick-tools", "memory_viewer");
  await page.waitForSelector(".message >> text=No profile data was found.");
  await page.click('.message [data-tool="out_of_memory"]');
  await explained(page);
  assert.deepEqual(page.complaints, []);
});

test("a session that is not there does not keep a message from being explained", async () => {
  const page = await opened("/?run=gone&tag=out_of_memory");
  await hand(page, "paste", MESSAGE);
  await explained(page);
  assert.match(await page.textContent(".oom-joined"), /v5e_arguments_oom/);
});

test("nothing is wider than the window, at 200 % zoom either", async () => {
  for (const viewport of [
    { width: 1280, height: 800 },
    { width: 640, height: 400 },
  ]) {
    const page = await opened("/?tag=out_of_memory", server, { viewport });
    await page.click("text=Try an example");
    await explained(page);
    const [wide, inner] = await page.evaluate(() => [
      Math.max(document.documentElement.scrollWidth, document.querySelector("#main").scrollWidth),
      window.innerWidth,
    ]);
    assert.ok(wide <= inner, `${wide} of ${inner}`);
    await page.context().close();
  }
});
