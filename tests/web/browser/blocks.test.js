// The Buffer Allocation Timeline: all bytes in their place, what is free, and how one moves in it.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { boxOf, LOGDIR, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";
import { writeSession } from "./several_allocations.js";
import { buildModel } from "../../../web/js/tools/memory_viewer/data/model.js";
import { buildBlockIndex } from "../../../web/js/tools/memory_viewer/layout/block_index.js";
import { buildBlocks } from "../../../web/js/tools/memory_viewer/layout/blocks.js";
import { holesAt, sumOfHoles } from "../../../web/js/tools/memory_viewer/layout/holes.js";

const REPLICATED = "?run=v5e_replicated_oom&tag=memory_viewer";
const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
const SEVERAL = "?run=several&tag=memory_viewer";
const REPLICATED_TOTAL = 18522046464; // its 256 MiB of temporary buffers are from the ground
const HUES = { parameter: [63, 127, 191], donated: [134, 191, 228], output: [58, 156, 124], temporary: [221, 138, 75] };
const BASE = ".blocks-base";
const OVERLAY = ".blocks .overlay";
let logdir, server, browser, page;

before(async () => {
  logdir = mkdtempSync(path.join(tmpdir(), "hbmview-blocks-"));
  for (const session of ["v5e_replicated_oom", "v5e_gpt_12layer_oom", "v5e_gpt_4layer", "v5e_matmul"])
    cpSync(path.join(LOGDIR, "plugins/profile", session), path.join(logdir, "plugins/profile", session), {
      recursive: true,
    });
  writeSession(logdir, "several");
  server = await startServer(logdir);
  browser = await startBrowser();
  page = await newPage(browser, server, { colorScheme: "light", acceptDownloads: true });
});

after(async () => {
  await browser?.close();
  server?.stop();
  rmSync(logdir, { recursive: true, force: true });
});

const free = () => page.textContent("#blocks-free");
const thing = () => page.textContent("#blocks-thing");
const zoom = async () => (await param(page, "zoom"))?.split(",").map(Number) ?? null;

/** The colours [r, g, b] of the pixels of a canvas at shares of its width and height. */
function colorsAt(selector, shares) {
  return page.evaluate(
    ([one, places]) => {
      const canvas = document.querySelector(one);
      const context = canvas.getContext("2d");
      return places.map(([x, y]) => [
        ...context.getImageData(Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data.slice(0, 3),
      ]);
    },
    [selector, shares],
  );
}

/** Of a hue, or of a tint of it: towards white. */
function isTint(color, hue) {
  const share = Math.max(...hue.map((value, i) => (color[i] - value) / (255 - value)));
  return share >= 0 && share < 0.6 && hue.every((value, i) => Math.abs(value + share * (255 - value) - color[i]) <= 3);
}

const kindOf = (color) =>
  Object.keys(HUES).find((key) => isTint(color, HUES[key])) ??
  (color.every((value) => value === 255) ? "free" : `rgb ${color}`);

const kindsAt = async (places) => (await colorsAt(BASE, places)).map(kindOf);

async function hoverAt(x, y) {
  await page.mouse.move(...(await boxOf(page, BASE)).at(x, y));
  await settle(page);
}

async function drag(from, to, keys = []) {
  const { at } = await boxOf(page, BASE);
  for (const key of keys) await page.keyboard.down(key);
  await page.mouse.move(...at(...from));
  await page.mouse.down();
  await page.mouse.move(...at(...to), { steps: 3 });
  await page.mouse.up();
  for (const key of keys) await page.keyboard.up(key);
  await settle(page);
}

test("every byte of the total is drawn: temporary ones from the ground, then parameters, then the output", async () => {
  await open(page, server, REPLICATED);
  const at = (bytes) => 1 - bytes / REPLICATED_TOTAL;
  const MIB = 2 ** 20;
  const places = [128 * MIB, 8000 * MIB, 16500 * MIB, 17400 * MIB].map((bytes) => [0.25, at(bytes)]);
  assert.deepEqual(await kindsAt(places), ["temporary", "parameter", "parameter", "output"]);
  assert.deepEqual(await kindsAt([[0.75, at(128 * MIB)]]), ["free"], "freed by the second step");
  const strip = await page.textContent(".lane-strip");
  assert.match(strip, /Temporary 256\.00 MiB.*Parameters 16\.50 GiB.*Outputs 512\.00 MiB/);
  await hoverAt(0.25, 0.5);
  assert.match(await thing(), /^w {2}param\.1: 16\.00 GiB, parameter, the whole program$/);
  assert.deepEqual(page.complaints, []);
});

const ask = async (query) => (await fetch(new URL(`api/v1/${query}`, server.url))).json();

test("every program: the axis ends at the total, bytes in use and free ones are the allocations", async () => {
  let seen = 0;
  for (const session of ["v5e_replicated_oom", "v5e_gpt_12layer_oom", "v5e_gpt_4layer", "v5e_matmul", "several"]) {
    for (const { name } of (await ask(`modules?session=${session}`)).modules) {
      const view = await ask(`memory_view?session=${session}&module=${encodeURIComponent(name)}`);
      const model = buildModel(view);
      const blocks = buildBlocks(model);
      assert.equal(blocks.height, view.totals.total_allocation_bytes, `${session} ${name}`);
      const index = buildBlockIndex(blocks);
      for (let step = 0; step < model.steps; step += 1) {
        const { bytes, freeBytes } = sumOfHoles(holesAt(blocks, index.within(step, step), step));
        assert.equal(model.heap[step] - view.totals.indefinite_bytes + freeBytes, bytes, `${session} step ${step}`);
        seen += 1;
      }
    }
  }
  assert.ok(seen > 1000, `${seen} steps`);
});

test("a band folds into one bar with its total, by its button, a click and the address", async () => {
  await open(page, server, REPLICATED);
  const unfolded = await colorsAt(BASE, [[0.5, 0.5]]);
  await page.focus("[data-fold=parameter]");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await param(page, "folded"), "parameter");
  assert.equal(await page.getAttribute("[data-fold=parameter]", "aria-expanded"), "false");
  assert.deepEqual(await kindsAt([[0.5, 0.5]]), ["parameter"]);
  await hoverAt(0.25, 0.5);
  assert.equal(await thing(), "Parameters  16.50 GiB  2 buffers, folded; a click opens them");
  const [before, outlined] = [await kindsAt([[0.9, 0.06]]), await picture(page, BASE)];
  assert.deepEqual(before, ["parameter"]);
  await page.reload();
  await page.waitForSelector(".blocks-base");
  await settle(page);
  await page.mouse.move(2, 2);
  assert.equal(await page.getAttribute("[data-fold=parameter]", "aria-expanded"), "false");
  assert.equal(await picture(page, BASE), outlined, "folded as before");
  await page.mouse.click(...(await boxOf(page, BASE)).at(0.5, 0.5));
  await settle(page);
  assert.equal(await param(page, "folded"), null);
  assert.equal(await param(page, "buffer"), null, "a click that opens pins nothing");
  assert.deepEqual(await colorsAt(BASE, [[0.5, 0.5]]), unfolded);
});

test("a name of the strip shows only its bytes", async () => {
  await open(page, server, REPLICATED);
  await page.click("[data-lane=temporary]");
  await settle(page);
  assert.deepEqual(await zoom(), [0, 2, 0, 2 ** 28]);
  assert.deepEqual(await kindsAt([[0.25, 0.5], [0.75, 0.5]]), ["temporary", "free"]);
  await page.click("#reset-zoom");
  await settle(page);
  assert.equal(await zoom(), null);
});

test("several temporary allocations stand on each other, each with its own holes", async () => {
  await open(page, server, `${SEVERAL}&step=3`);
  const at = (kib) => 1 - kib / 12.5;
  const column = (x, ...kib) => kindsAt(kib.map((one) => [x, at(one)]));
  assert.deepEqual(await column(0.41, 2, 5, 7, 8.5, 11, 12.3), [
    ...["temporary", "free", "free", "free"],
    ...["parameter", "output"],
  ]);
  assert.deepEqual(await column(0.58, 2, 5, 7, 8.5), ["temporary", "free", "temporary", "free"]);
  const early = await column(0.08, 2, 7, 8.1, 8.5);
  assert.deepEqual([early[0], early[1], early[2]], ["free", "free", "free"]);
  const largest = "the largest 2.00 KiB at offset 4.00 KiB of allocation 1";
  assert.equal(await free(), `step 3, b:  3.00 of 9.00 KiB free in 2 ranges, ${largest}`);
  await hoverAt(0.58, at(8.6));
  assert.equal(await thing(), "free here: 1.00 KiB at offset 0 B");
  await hoverAt(0.58, at(9.5));
  assert.equal(await thing(), "allocation 3  1.00 KiB  not simulated");
  await hoverAt(0.08, at(8.5));
  assert.equal(await thing(), "c: 512 B at offset 256 B, steps 0 to 1");
  assert.match(await free(), /^step 0: {2}8\.50 of 9\.00 KiB free in 3 ranges/);
});

test("what is free at the cursor's step is hatched there, and told on the card", async () => {
  await open(page, server, `${SEVERAL}&step=3`);
  const shares = (selector, kib) =>
    page.evaluate(
      ([one, share]) => {
        const canvas = document.querySelector(one);
        const y = Math.floor(6 + share * (canvas.height - 42));
        const { data } = canvas.getContext("2d").getImageData(76, y - 6, canvas.width - 90, 12);
        const inked = [];
        for (let x = 0; x < canvas.width - 90; x += 1)
          for (let row = 0; row < 12; row += 1) if (data[4 * (row * (canvas.width - 90) + x) + 3] > 40) inked.push(x);
        return [Math.min(...inked) / (canvas.width - 90), Math.max(...inked) / (canvas.width - 90)];
      },
      [selector, 1 - kib / 12.5],
    );
  const [from] = await shares(OVERLAY, 5.4);
  assert.ok(Math.abs(from - 0.5) < 0.01, `hatched from ${from}`);
  const [line] = await shares(OVERLAY, 2);
  assert.ok(Math.abs(line - 3.5 / 6) < 0.01, "nothing but the cursor over a buffer");
  assert.match(await page.textContent(".card"), /Free beside it.*2\.00 of 8\.00 KiB free.*step 3/);
});

test("a plain drag zooms into the box while all is in sight, then pans; with Shift it zooms further in", async () => {
  await open(page, server, OOM);
  await drag([0.25, 0.25], [0.75, 0.75]);
  const [x0, x1, y0, y1] = await zoom();
  const total = 53 * 2 ** 30;
  assert.ok(Math.abs(x0 - 256.5) < 3 && Math.abs(x1 - 769.5) < 3, `${x0} to ${x1}`);
  assert.ok(Math.abs(y0 / total - 0.25) < 0.01 && Math.abs(y1 / total - 0.75) < 0.01, `${y0} to ${y1}`);
  await drag([0.5, 0.5], [0.6, 0.4]);
  const panned = await zoom();
  assert.ok(Math.abs(panned[0] - (x0 - (x1 - x0) / 10)) < 2, "to the right: what was before");
  assert.ok(panned[2] < y0, "up: what is below");
  assert.ok(Math.abs(panned[1] - panned[0] - (x1 - x0)) < 0.1, "as wide as before");
  await drag([0.25, 0.25], [0.75, 0.75], ["Shift"]);
  const closer = await zoom();
  assert.ok(Math.abs((closer[1] - closer[0]) / (x1 - x0) - 0.5) < 0.02);
  assert.equal(await param(page, "buffer"), null, "a drag is no click");
});

test("the minimap stands while something is out of sight; its frame is dragged, a click goes there", async () => {
  await open(page, server, OOM);
  assert.ok(await page.isHidden(".minimap"));
  await open(page, server, `${OOM}&zoom=100,200,0,10000000000`);
  const map = await boxOf(page, ".minimap-base");
  assert.ok(map.height > 30);
  const inside = await colorsAt(".minimap .overlay", [[150 / 1026, 0.95]]);
  const outside = await colorsAt(".minimap .overlay", [[0.8, 0.5]]);
  assert.deepEqual([inside, outside], [[[0, 0, 0]], [[255, 255, 255]]], "what is out of sight is paler");
  await page.mouse.move(...map.at(150 / 1026, 0.9));
  await page.mouse.down();
  await page.mouse.move(...map.at(450 / 1026, 0.9), { steps: 4 });
  await page.mouse.up();
  await settle(page);
  const [x0, x1, y0] = await zoom();
  assert.ok(Math.abs(x0 - 400) < 5 && Math.abs(x1 - x0 - 100) < 0.1 && y0 === 0, `${x0} to ${x1}`);
  await page.mouse.click(...map.at(0.8, 0.5));
  await settle(page);
  const there = await zoom();
  assert.ok(Math.abs((there[0] + there[1]) / 2 - 0.8 * 1026) < 3);
  await page.keyboard.press("0");
  await settle(page);
  assert.ok(await page.isHidden(".minimap"));
});

test("f gives the timeline the whole screen, Esc gives it back, and lets go of nothing", async () => {
  await open(page, server, `${OOM}&buffer=11471&panel=table`);
  await page.keyboard.press("f");
  await settle(page);
  const box = await page.locator(".blocks").boundingBox();
  assert.ok(box.width > 1200 && box.height > 450, `${box.width} x ${box.height}`);
  assert.ok(await page.isHidden("#side"));
  assert.ok(await page.isVisible("#dock"), "the card stays");
  await page.keyboard.press("Escape");
  await settle(page);
  assert.ok(await page.isVisible("#side"));
  assert.equal(await param(page, "buffer"), "11471");
  await page.click("#full-screen");
  await settle(page);
  assert.equal(await page.textContent("#full-screen"), "Leave full screen");
  await page.click("#full-screen");
  await settle(page);
  assert.ok(await page.isVisible("#side"));
  assert.deepEqual(page.complaints, []);
});

test("a saved picture has a rectangle for each block, named, and what is drawn over them", async () => {
  await open(page, server, `${SEVERAL}&step=3&folded=parameter`);
  await page.click("section:has(> .blocks) .save-menu summary");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("section:has(> .blocks) .save-menu").getByRole("button", { name: "as SVG" }).click(),
  ]);
  assert.equal(download.suggestedFilename(), "several jit_several blocks.svg");
  const svg = readFileSync(await download.path(), "utf8");
  const hueOf = (key) => `#${HUES[key].map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  assert.equal(svg.split(`fill="${hueOf("parameter")}"`).length - 1, 1, "one bar");
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map((found) => found[1]);
  const wanted = ["a", "b", "Parameters  2.00 KiB  1 buffer", "allocation 1  8.00 KiB", "2.00 KiB free"];
  for (const text of wanted) assert.ok(texts.includes(text), `${text} among ${texts}`);
  assert.ok(!svg.includes("<image"));
  await settle(page);
});

test("the keys: up and down go from block to block at the cursor, Enter pins, Shift w zooms in on bytes", async () => {
  await open(page, server, `${SEVERAL}&step=3`);
  await page.mouse.move(2, 2);
  await page.locator("section:has(> .blocks)").focus();
  const names = [];
  for (const key of ["ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown"]) {
    await page.keyboard.press(key);
    await settle(page);
    names.push((await thing()).split(":")[0]);
  }
  assert.deepEqual(names, ["a", "b", "p  p", "out", "out", "p  p"]);
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await param(page, "buffer"), "4");
  await page.keyboard.press("Shift+W");
  await settle(page);
  assert.equal((await zoom()).length, 4);
});

test("blocks are named by who holds them, and a pinned group lights its own", async () => {
  const blocks = buildBlocks(buildModel(await ask("memory_view?session=v5e_gpt_12layer_oom&module=jit_train_step(1)")));
  const at = (step, bytes) => [step / blocks.steps, 1 - bytes / blocks.height];
  const [of53, of69] = [at(500, 28.5 * 2 ** 30), at(700, 16 * 2 ** 30)]; // fusion.1467.remat3{1} and fusion.1473.remat4
  await open(page, server, OOM);
  await hoverAt(...of53);
  const where = "3.00 GiB at offset 27.40 GiB, steps 220 to 662";
  assert.equal(await thing(), `train.py:53  fusion.1467.remat3{1}: ${where}`);
  await hoverAt(...of69);
  assert.match(await thing(), /^train\.py:69 {2}fusion\.1473\.remat4: /);
  await page.mouse.move(2, 2);
  await settle(page);
  const [plain53, plain69] = await colorsAt(BASE, [of53, of69]);
  assert.notDeepEqual(plain53, plain69, "a tint of its own");
  assert.ok(isTint(plain53, HUES.temporary) && isTint(plain69, HUES.temporary));
  await page.click('.who-grid tr[data-row="group train.py:69"]');
  await page.mouse.click(...(await boxOf(page, ".u-over")).at(0.95, 0.5));
  await page.mouse.move(2, 2);
  await settle(page);
  assert.equal(await param(page, "holder"), "train.py:69");
  assert.ok(Number(await param(page, "step")) > 900);
  const [lit53, lit69] = await colorsAt(BASE, [of53, of69]);
  assert.deepEqual(lit69, plain69, "of the same tint at any step");
  assert.ok(lit53.every((value, i) => value > plain53[i]), "faded");
});
