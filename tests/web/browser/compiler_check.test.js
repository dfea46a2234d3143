// "Check with the compiler" below the advice: what a command tells the real server is on the page while it goes on.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { newPage, open, settle, startBrowser, startServer } from "./harness.js";

const MIB = 2 ** 20;
const SESSION = "v5e_gpt_4layer";
const WHERE = `/?run=${SESSION}&tag=memory_viewer&panel=advice`;
const EVIL = "<img src=x onerror=\"document.title='hacked'\"> in bfloat16";
let browser;
let server;
let place;

before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
  const { modules } = await (await fetch(new URL(`api/v1/modules?session=${SESSION}`, server.url))).json();
  place = new URLSearchParams({ session: SESSION, module: modules[0].name });
});

after(async () => {
  await browser?.close();
  server?.stop();
});

function rowOf(id, name, compiledMib, more = {}) {
  const figures = { predicted_total_bytes: null, low_bytes: null, high_bytes: null };
  const outcome = { compiled_total_bytes: compiledMib && compiledMib * MIB, is_inside: null };
  return { id, name, ...figures, ...outcome, status: "compiled", reason: null, seconds: 2.5, ...more };
}

const foretold = (mib, isInside) => ({
  predicted_total_bytes: mib * MIB,
  low_bytes: (mib - 5) * MIB,
  high_bytes: (mib + 5) * MIB,
  is_inside: isInside,
});

const ROWS = [
  rowOf("as_it_is", "as it is", 100, { predicted_total_bytes: 100 * MIB }),
  rowOf("donate_inputs", "donate the inputs", 80, foretold(84, true)),
  rowOf("bf16_parameters", EVIL, 50, foretold(75, false)),
  rowOf("memory_limit", "as it is, within 90.00 MiB", null, { status: "failed", reason: "not compiled within 9 s" }),
  rowOf("halve_batch", "halve the batch", null, { status: "not_in_module", reason: "changed in the source" }),
];

async function tell(state) {
  const all = { state: "running", asked: "changes", target: "v5e:2x2", compiler: "jax 1", total: 4, compiled: 0 };
  const body = JSON.stringify({ ...all, compiling: null, reason: null, rows: [], ...state });
  const reply = await fetch(new URL(`api/v1/check/progress?${place}`, server.url), { method: "POST", body });
  assert.equal(reply.status, 200, await reply.text());
}

const statusSays = (page, part) =>
  page.waitForFunction((text) => document.querySelector(".check-status")?.textContent.includes(text), part);

const rowsOf = (page) =>
  page.$$eval(".check-table tbody tr", (rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

test("a check is seen to begin, to go on row by row, and to end", async () => {
  const page = await newPage(browser, server);
  await open(page, server, WHERE);
  await page.waitForSelector(".advice-table");
  await page.click(".compiler-check summary");
  await statusSays(page, "Nothing was told of this program yet");
  assert.equal(await page.locator(".check-table").count(), 0);

  await tell({ compiled: 1, compiling: "donate the inputs", rows: ROWS.slice(0, 1) });
  await statusSays(page, "1 of 4 done: donate the inputs …");
  assert.deepEqual(await page.$eval(".check-bar progress", (bar) => [bar.value, bar.max]), [1, 4]);
  assert.deepEqual(await rowsOf(page), [
    ["as it is", "100.00 MiB", "", "100.00 MiB", "+0.0 %", "2.5 s"],
    ["donate the inputs compiling …"],
  ]);

  await tell({ compiled: 3, compiling: EVIL, rows: ROWS.slice(0, 3) });
  await statusSays(page, "3 of 4 done");
  const rows = await rowsOf(page);
  assert.deepEqual(rows[1], ["donate the inputs", "84.00 MiB", "79.00 to 89.00 MiB", "80.00 MiB", "+5.0 %", "2.5 s"]);
  assert.deepEqual(rows[2].slice(0, 5), [EVIL, "75.00 MiB", "70.00 to 80.00 MiB", "50.00 MiB", "+50.0 % outside"]);
  assert.equal(await page.locator(".compiler-check img").count(), 0);

  await tell({ state: "done", compiled: 4, rows: ROWS });
  await statusSays(page, "Done: 4 compiles for v5e:2x2 by jax 1. 1 of 2 predictions inside the range.");
  assert.equal(await page.locator(".check-bar progress").count(), 0);
  assert.match((await rowsOf(page))[3][0], /within 90\.00 MiBnot compiled within 9 s$/);
  assert.match(await page.textContent(".check-result .note:last-child"), /halve the batch: changed in the source\./);
  assert.deepEqual(page.complaints, []);
});

test("who comes later sees how it ended, and why there is no answer", async () => {
  await tell({ state: "failed", reason: "jax is not here: pip install 'jax[tpu]'" });
  const page = await newPage(browser, server);
  await open(page, server, WHERE);
  await statusSays(page, "No answer: jax is not here: pip install 'jax[tpu]'");
  assert.ok(await page.isVisible(".check-status"), "it opens by itself where there is something to see");
  assert.deepEqual(page.complaints, []);
});

test("a check without news is told as such, and its rows stay", async () => {
  const page = await newPage(browser, server);
  await tell({ compiled: 1, compiling: "donate the inputs", rows: ROWS.slice(0, 1) });
  await page.route(/\/api\/v1\/check\?/, async (route) => {
    const reply = await route.fetch();
    const body = await reply.json();
    body.check.age_ms = 60000;
    await route.fulfill({ json: body });
  });
  await open(page, server, WHERE);
  await statusSays(page, "No news since");
  assert.match(await page.textContent(".check-status"), /No news since \d\d:\d\d:\d\d, with 1 of 4 done/);
  assert.deepEqual((await rowsOf(page)).map(([name]) => name), ["as it is"]);
  await settle(page);
  assert.deepEqual(page.complaints, []);
});

test("an error that may pass is said, and the check is followed on", async () => {
  const page = await newPage(browser, server);
  await tell({ compiled: 1, compiling: "donate the inputs", rows: ROWS.slice(0, 1) });
  const passing = [
    { status: 503, json: { error: { code: "no_memory", message: "There is no room." } } },
    { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" },
  ];
  const refusals = [...passing];
  await page.route(/\/api\/v1\/check\?/, (route) =>
    refusals.length > 0 ? route.fulfill(refusals.shift()) : route.continue(),
  );
  await open(page, server, WHERE);
  await page.click(".compiler-check summary");
  await statusSays(page, "1 of 4 done");
  assert.deepEqual(refusals, []);

  refusals.push(passing[1]);
  await statusSays(page, "The server answered 502 with an answer that is not JSON. It is asked again.");
  assert.deepEqual(page.complaints, []);
});
