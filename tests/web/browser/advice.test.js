// The Advice panel of the Memory Viewer: on canned answers, whose figures are known, and on the real server.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { newPage, open, param, settle, startBrowser, startServer, copiedBy } from "./harness.js";

const GIB = 2 ** 30;
const WHERE = "/?run=v5e_gpt_12layer_oom&tag=memory_viewer";
let browser;
let server;

before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});

after(async () => {
  await browser?.close();
  server?.stop();
});

function itemOf(id, totalGib, told = {}) {
  return {
    id,
    applies: true,
    predicted_total_bytes: totalGib * GIB,
    predicted_peak_bytes: totalGib * GIB,
    saves_bytes: (20 - totalGib) * GIB,
    low_bytes: (totalGib - 1) * GIB,
    high_bytes: (totalGib + 1) * GIB,
    changes_numerics: false,
    evidence: [`evidence of ${id}`],
    how: `how to ${id}`,
    name: id.replaceAll("_", " "),
    code: `write_${id}()`,
    fit: totalGib < 15 ? "fits" : totalGib < 17 ? "may_fit" : "too_big",
    ...told,
  };
}

function stepOf(id, total, saves, low = total - 1, high = total + 1) {
  const bytes = { predicted_total_bytes: total * GIB, low_bytes: low * GIB, high_bytes: high * GIB };
  return { id, name: id.replaceAll("_", " "), ...bytes, saves_bytes: saves * GIB };
}

function replyFor(capacity) {
  const interventions = [
    itemOf("donate_inputs", 17),
    itemOf("halve_batch", 12, { changes_numerics: true }),
    itemOf("bf16_temporaries", 21, { changes_numerics: true }),
    itemOf("remove_debug_print", 20, { applies: false }),
  ];
  const plan = {
    is_needed: true,
    fits: true,
    interventions: ["donate_inputs", "rematerialize"],
    names: ["donate the inputs", "rematerialize"],
    predicted_total_bytes: 15 * GIB,
    low_bytes: 14 * GIB,
    high_bytes: 17 * GIB,
    fit: "may_fit",
    steps: [stepOf("donate_inputs", 17, 3), stepOf("rematerialize", 15, 2, 14, 17)],
  };
  const other = {
    ...plan,
    kind: "same_speed",
    interventions: ["halve_batch"],
    names: ["halve batch"],
    predicted_total_bytes: 12 * GIB,
    low_bytes: 11 * GIB,
    high_bytes: 13 * GIB,
    fit: "fits",
    steps: [stepOf("halve_batch", 12, 8)],
  };
  const place = { session: "v5e_gpt_12layer_oom", module: "m(1)" };
  const told = { ...place, batch: null, not_counted: ["the program's own code"] };
  const totals = { ...told, capacity_bytes: capacity, total_bytes: 20 * GIB, peak_bytes: 19 * GIB };
  return { ...totals, interventions, ...(capacity === null ? {} : { plan, alternatives: [other] }) };
}

/** @returns the page, with the queries that it asks */
async function canned(query, answer = (asked) => ({ json: replyFor(Number(asked.get("capacity")) || null) })) {
  const page = await newPage(browser, server);
  const asked = [];
  await page.route(/\/api\/v1\/advise/, (route) => {
    const search = new URL(route.request().url()).searchParams;
    asked.push(Object.fromEntries(search));
    return route.fulfill(answer(search));
  });
  await open(page, server, query);
  return { page, asked };
}

const rows = (page) => page.$$eval("tr[data-change]", (all) => all.map((one) => one.dataset.change));

test("nothing is asked until the panel is opened; then it is in the address and stays over a reload", async () => {
  const { page, asked } = await canned(WHERE);
  assert.deepEqual(asked, []);
  assert.equal(await page.locator("#advice-body").count(), 0);
  await page.click("#tab-advice");
  await page.waitForSelector(".advice-table");
  await settle(page);
  assert.equal(await param(page, "panel"), "advice");
  assert.equal(asked.length, 1);
  assert.equal(asked[0].session, "v5e_gpt_12layer_oom");
  assert.match(asked[0].module, /^jit_train_step\(/);
  await page.reload();
  await page.waitForSelector(".advice-table");
  await page.focus("#tab-advice");
  await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.equal(await page.locator("#advice-body").count(), 0);
  assert.equal(await param(page, "panel"), null, "the first tab again");
  const before = asked.length;
  await page.keyboard.press("ArrowLeft");
  await page.waitForSelector(".advice-table");
  assert.equal(asked.length, before, "what it was told it still knows");
  assert.deepEqual(page.complaints, []);
});

test("what saves most is first; what does not apply is folded away with its reason", async () => {
  const { page } = await canned(`${WHERE}&panel=advice&capacity=16GiB`);
  await page.waitForSelector(".advice-table");
  assert.deepEqual(await rows(page), ["halve_batch", "donate_inputs", "bf16_temporaries"]);
  assert.match(
    await page.textContent('[data-change="halve_batch"]'),
    /12\.00 GiB.*11\.00 to 13\.00 GiB.*8\.00 GiB.*changes/,
  );
  assert.match(await page.textContent('[data-change="bf16_temporaries"] .costs'), /-1\.00 GiB/);
  assert.ok(await page.isHidden(".advice-others dl"));
  await page.click(".advice-others summary");
  assert.match(await page.textContent(".advice-others"), /Remove debug print.*evidence of remove_debug_print/);
});

test("bars are to scale: prediction, range and capacity", async () => {
  const { page } = await canned(`${WHERE}&panel=advice&capacity=16GiB`);
  await page.waitForSelector(".advice-table");
  const box = (selector) => page.locator(`[data-change="halve_batch"] ${selector}`).boundingBox();
  const [track, bar, whisker, mark] = await Promise.all(
    [".advice-track", ".advice-bar", ".advice-whisker", ".capacity-mark"].map(box),
  );
  const gib = track.width / 22; // the highest end of a range
  const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 1.5, `${value} is not ${wanted}`);
  near(bar.width, 12 * gib);
  near(whisker.x - track.x, 11 * gib);
  near(whisker.width, 2 * gib);
  near(mark.x - track.x, 16 * gib);
});

test("the plan stands on top, and its changes are open with the code to copy", async () => {
  const { page } = await canned(`${WHERE}&panel=advice&capacity=16GiB`);
  await page.waitForSelector(".advice-table");
  assert.match(
    await page.textContent(".advice-plan"),
    /^The plan: donate the inputs and rematerialize → 15\.00 GiB \(14\.00 .* 17\.00 GiB\), may fit 16\.00 GiB\.$/,
  );
  assert.ok(await page.isVisible("#advice-of-donate_inputs"));
  assert.ok(await page.isHidden("#advice-of-halve_batch"));
  const code = await copiedBy(page, () => page.click("#advice-of-donate_inputs .copy"));
  assert.equal(code, "write_donate_inputs()");
  await page.click('[data-change="halve_batch"] .advice-name');
  assert.match(await page.textContent("#advice-of-halve_batch"), /evidence of halve_batch/);
  assert.match(await page.textContent("#advice-body"), /Not counted/);
});

test("the plan is a waterfall to scale, with the capacity through it, and copied as text", async () => {
  const { page } = await canned(`${WHERE}&panel=advice&capacity=16GiB`);
  await page.waitForSelector(".waterfall");
  const box = (step, part) => page.locator(`[data-step="${step}"] ${part}`).boundingBox();
  const track = await box("today", ".advice-track");
  const gib = track.width / 20; // today is the most
  const near = (value, wanted) => assert.ok(Math.abs(value - wanted) < 1.5, `${value} is not ${wanted}`);
  for (const [step, before, total] of [
    ["donate_inputs", 20, 17],
    ["rematerialize", 17, 15],
  ]) {
    const [bar, gone] = [await box(step, ".advice-bar"), await box(step, ".waterfall-gone")];
    near(bar.width, total * gib);
    near(gone.x - track.x, total * gib);
    near(gone.width, (before - total) * gib);
    near((await box(step, ".capacity-mark")).x - track.x, 16 * gib);
  }
  assert.equal(await page.locator('[data-step="rematerialize"] .advice-bar.may').count(), 1);
  const text = await copiedBy(page, () => page.click(".waterfall-foot .copy"));
  assert.match(text, /^Today +20\.00 GiB\nDonate inputs +17\.00 GiB +-3\.00 GiB /);
  assert.match(text, /\nRematerialize .*\nCapacity +16\.00 GiB$/);
});

test("an alternative is chosen by keys, is in the address, and its changes are the planned ones", async () => {
  const { page } = await canned(`${WHERE}&panel=advice&capacity=16GiB`);
  await page.waitForSelector(".waterfall");
  await page.focus('.plan-choice input[value="plan"]');
  await page.keyboard.press("ArrowRight");
  await settle(page);
  assert.equal(await param(page, "plan"), "same_speed");
  const told = await page.textContent(".advice-plan");
  assert.match(told, /^As fast as today: halve batch → 12\.00 GiB .*, fits 16\.00 GiB\.$/);
  assert.deepEqual(await page.$$eval("tr.planned", (all) => all.map((one) => one.dataset.change)), ["halve_batch"]);
  assert.equal(await page.locator('[data-step="halve_batch"]').count(), 1);
  assert.ok(await page.isVisible("#advice-of-halve_batch"), "its changes are open");
  await page.reload();
  await page.waitForSelector('[data-step="halve_batch"]');
  await page.focus('.plan-choice input[value="same_speed"]');
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.equal(await param(page, "plan"), null);
  assert.equal(await page.locator('[data-step="rematerialize"]').count(), 1);
  assert.equal(await page.evaluate(() => document.activeElement.value), "plan", "the focus stays");
  assert.deepEqual(page.complaints, []);
});

test("without a capacity the real server tells what often goes together", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "/?run=v5e_gpt_4layer&tag=memory_viewer&panel=advice");
  await page.waitForSelector(".waterfall");
  assert.match(await page.textContent(".advice-steps .note"), /often go together/);
  for (const step of ["halve_batch", "bf16_parameters"])
    assert.equal(await page.locator(`.waterfall [data-step="${step}"]`).count(), 1, step);
  assert.equal(await page.locator(".waterfall .capacity-mark").count(), 0);
});

test("capacity, chips and batch are asked with, and kept in the address", async () => {
  const { page, asked } = await canned(`${WHERE}&panel=advice`);
  await page.waitForSelector(".advice-table");
  assert.match(await page.textContent(".advice-plan"), /^Say what the device has/);
  for (const [id, text] of [
    ["capacity", "16GiB"],
    ["ways", "8"],
    ["batch", "32"],
    ["sequence", "512"],
  ]) {
    await page.fill(`#advice-${id}`, text);
    await page.keyboard.press("Enter");
    await settle(page);
    assert.equal(await param(page, id), text);
  }
  const { capacity, ways, batch, sequence } = asked.at(-1);
  assert.deepEqual([capacity, ways, batch, sequence], [String(16 * GIB), "8", "32", "512"]);
  assert.equal(await page.inputValue("#capacity"), "16GiB", "the same as in the headline");
  const before = asked.length;
  await page.fill("#advice-ways", "many");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await page.getAttribute("#advice-ways", "aria-invalid"), "true");
  assert.equal(asked.length, before, "what is no number is not asked with");
});

test("an error is the server's sentence, and the charts stay", async () => {
  const error = { code: "malformed", message: "the module has no buffer assignment", file: null, offset: null };
  const { page } = await canned(`${WHERE}&panel=advice`, () => ({ status: 500, json: { error } }));
  await page.waitForSelector("#advice-body .error-line");
  assert.match(await page.textContent("#advice-body .error-line"), /the module has no buffer assignment/);
  assert.ok(await page.isVisible(".curve"));
});

test("the real server advises a program that does not fit, and its plan fits", async () => {
  const page = await newPage(browser, server);
  await open(page, server, `${WHERE}&panel=advice&capacity=15.75GiB`);
  await page.waitForSelector(".advice-table");
  assert.match(await page.textContent(".today"), /52\.93 GiB/);
  assert.ok((await rows(page)).length >= 3);
  const told = await page.textContent(".advice-plan");
  assert.match(told, /^The plan: .+ → \d+\.\d\d GiB \(.* to .*\), (may fit|fits) 15\.75 GiB\.$/);
  assert.deepEqual(page.complaints, []);
});

test("the compiler is asked by a command, which names this program and what was asked about", async () => {
  const { page } = await canned(`${WHERE}&panel=advice&capacity=16GiB`);
  await page.waitForSelector(".advice-table");
  assert.ok(await page.isHidden(".compiler-check pre"));
  await page.click(".compiler-check summary");
  await page.waitForSelector(".compiler-check pre");
  const command = await copiedBy(page, () => page.click(".compiler-check .copy"));
  const { logdir } = await (await fetch(new URL("api/v1/server", server.url))).json();
  assert.ok(command.startsWith(`hbmview advise ${logdir} --session=v5e_gpt_12layer_oom --module='m(1)'`), command);
  assert.ok(command.endsWith(`--capacity=${16 * GIB} --check --page=${new URL("/", server.url)}`), command);
  assert.match(await page.textContent(".compiler-check"), /pip install 'jax\[tpu\]'.*xla_dump_to=DIR/);
  assert.deepEqual(page.complaints, []);
});
