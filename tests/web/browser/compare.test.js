// The Compare tool on real programs, by mouse and by keyboard.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LOGDIR, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";

const PROGRAMS = path.join(LOGDIR, "../compare");
const CANVAS = ".compare-canvas";
let browser;
let server;
let logdir;

/** A session each of the same step: as it is, rematerialized, not donated; and one without a program. */
function makeLogdir() {
  const root = mkdtempSync(path.join(tmpdir(), "hbmview-page-"));
  const add = (session, from, file) => {
    const folder = path.join(root, "plugins/profile", session);
    mkdirSync(folder, { recursive: true });
    copyFileSync(from, path.join(folder, file));
  };
  for (const name of ["plain", "rematerialized", "not_donated"])
    add(`step_${name}`, path.join(PROGRAMS, `${name}.hlo.pb.gz`), "jit_train_step.hlo_proto.pb.gz");
  const allocator = "plugins/profile/tf_tiny/vm.xplane.pb.gz";
  add("tf_tiny", path.join(LOGDIR, allocator), "vm.xplane.pb.gz");
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

const compared = (page) => page.waitForSelector(".compare-verdict");
const REMAT = "/?run=step_plain&tag=compare&run_b=step_rematerialized";
const rowsOf = (page, table) =>
  page.$$eval(`${table} tr[data-row]`, (rows) => rows.map((row) => row.textContent));
const verdict = (page) => page.textContent(".compare-verdict");

/** The text of the page once it says so. */
async function says(page, selector, pattern) {
  await page.waitForFunction(
    ([where, source]) => new RegExp(source).test(document.querySelector(where)?.textContent ?? ""),
    [selector, pattern.source],
  );
}

test("peak and total first, then the lines, and each table says by how much", async () => {
  const page = await opened(REMAT);
  await compared(page);
  await page.waitForSelector(".compare-buffers tr[data-row]");
  assert.match(await verdict(page), /peak 510\.10 MiB → 382\.10 MiB: −128\.00 MiB \(−25\.1 %\)/);
  assert.match(await verdict(page), /total 515\.92 MiB → 385\.19 MiB: −130\.73 MiB/);
  const groups = await rowsOf(page, ".compare-groups");
  assert.match(groups[0], /−64\.00 MiB.*4 → 2.*compare_programs\.py:28/);
  const categories = await rowsOf(page, ".compare-categories");
  assert.ok(categories.some((row) => /^temporary−130\.73 MiB/.test(row)));
  const buffers = await rowsOf(page, ".compare-buffers");
  assert.match(buffers[0], /^lost2−64\.00 MiB/);
  assert.deepEqual(page.complaints, []);
});

test("the mouse on the curves says what is live in both, the arrow keys as well", async () => {
  const page = await opened(REMAT);
  await compared(page);
  const before = await picture(page, CANVAS);
  const box = await page.locator(CANVAS).boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await says(page, ".compare .readout", /at \d+ %: {2}[\d.]+ MiB \(step \d+\) → [\d.]+ MiB/);
  assert.notEqual(await picture(page, CANVAS), before);
  await page.mouse.move(2, 2);
  await says(page, ".compare .readout", /^$/);
  await page.focus(CANVAS);
  await page.keyboard.press("ArrowRight");
  await says(page, ".compare .readout", /382\.10 MiB|at \d+ %/);
});

test("a group that is clicked keeps its buffers, Esc lets it go", async () => {
  const page = await opened(REMAT);
  await compared(page);
  const whole = await page.textContent("#compare-count");
  await page.click('.compare-groups tr[data-row]:has-text("compare_programs.py:28")');
  await says(page, "#compare-count", /^\d+ buffers, −64\.00 MiB$/);
  await page.keyboard.press("Escape");
  await page.waitForFunction((text) => document.querySelector("#compare-count").textContent === text, whole);
});

test("the search is in the address, and a reload has it", async () => {
  const page = await opened(REMAT);
  await compared(page);
  await page.keyboard.press("/");
  await page.keyboard.type("gather");
  await says(page, "#compare-count", /^\d+ buffers?, \+32\.00 KiB$/);
  await page.waitForFunction(() => new URL(location.href).searchParams.get("filter") === "gather");
  await page.reload();
  await says(page, "#compare-count", /^\d+ buffers?, \+32\.00 KiB$/);
});

test("another way to group, by the arrow keys", async () => {
  const page = await opened(REMAT);
  await compared(page);
  await page.focus('.compare input[value="source"]');
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => new URL(location.href).searchParams.get("by") === "scope");
  await page.waitForSelector('.compare input[value="scope"]:checked');
  await page.click('.compare .way:has(input[value="category"])');
  await page.waitForSelector('.compare input[value="category"]:checked');
  await says(page, ".compare-groups", /−128\.00 MiB.*temporary/);
});

test("swapped, it is the negative", async () => {
  const page = await opened(REMAT);
  await compared(page);
  await page.keyboard.press("x");
  await says(page, ".compare-verdict", /peak 382\.10 MiB → 510\.10 MiB: \+128\.00 MiB/);
  assert.equal(await param(page, "run"), "step_rematerialized");
  await page.click("#compare-swap");
  await says(page, ".compare-verdict", /−128\.00 MiB/);
});

test("donated outputs are said to be aliases; the program after is picked at the left", async () => {
  const page = await opened("/?run=step_not_donated&tag=compare&run_b=step_rematerialized");
  await compared(page);
  await page.selectOption("#pick-after-in", "step_plain");
  await says(page, ".findings", /24 outputs of 38\.00 MiB .* became aliases/);
  await says(page, ".compare-buffers", /now an alias/);
});

test("predicted against actual, asked by the keyboard", async () => {
  const page = await opened(REMAT);
  await compared(page);
  await page.focus("#foretold");
  await page.keyboard.press("Enter");
  await says(page, ".compare-foretold", /Rematerialize.*385\.19 MiB/);
  await says(page, ".compare", /The program after needs 385\.19 MiB in all\. Nearest to that is: /);
});

test("from the Memory Viewer by its key and by its button", async () => {
  const page = await opened("/?run=step_plain&tag=memory_viewer");
  await page.keyboard.press("c");
  await compared(page);
  assert.equal(await param(page, "tag"), "compare");
  await page.goBack();
  await page.click("#compare");
  await compared(page);
  await settle(page);
  assert.deepEqual(page.complaints, []);
});

test("a session without a program, and a module that is not there, say so", async () => {
  const page = await opened("/?run=step_plain&tag=compare&run_b=tf_tiny");
  assert.match(await page.textContent(".message"), /tf_tiny holds no compiled program/);
  await open(page, server, `${REMAT}&module_b=jit_nope`);
  assert.match(await page.textContent(".message"), /no module "jit_nope" in step_rematerialized/);
});
