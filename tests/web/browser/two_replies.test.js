// A memory view comes in two replies: what the first one paints, and what the second one adds.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { boxOf, newPage, open, param, settle, startBrowser, startServer } from "./harness.js";

const VIEW = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
let server, browser;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.stop();
});

/** Opens `query` and stops before the columns come; `release` lets them. */
async function openFirst(query, answer = (route) => route.continue()) {
  const page = await newPage(browser, server);
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route("**/api/v1/memory_view?*", async (route) => {
    await held;
    await answer(route);
  });
  await page.goto(new URL(query, server.url).href);
  await page.waitForFunction(() => performance.getEntriesByName("hbmview-painted").length > 0);
  const whole = async () => {
    release();
    await page.waitForFunction(() => !document.querySelector(".workspace[aria-busy]"));
    await settle(page);
  };
  return { page, release, whole };
}

const inked = (page, selector) =>
  page.evaluate((one) => {
    const canvas = document.querySelector(one);
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((sum, value, i) => sum + (i % 4 === 3 && value > 0 ? 1 : 0), 0);
  }, selector);

test("figures, curve, bars and the largest buffer stand before the columns come", async () => {
  const { page, whole } = await openFirst(VIEW);
  assert.match(await page.textContent(".headline-figures"), /^52\.\d\d GiB peak/);
  assert.match(await page.textContent(".composition-line"), /Temporary at peak/);
  assert.ok((await inked(page, ".u-wrap canvas")) > 0);
  assert.match(await page.textContent(".bars .facts"), /391 buffers/);
  assert.ok((await inked(page, "canvas[data-order=size]")) > 0);
  const name = await page.textContent(".card-head h2");
  assert.match(await page.textContent("[role=status]:has-text('follow')"), /table of 740 buffers follow/);
  assert.equal(await page.locator(".blocks, .buffers").count(), 0);
  await page.evaluate(() => document.querySelectorAll(".uplot, .bars").forEach((one) => (one.isFirst = true)));
  await whole();
  assert.ok(await page.evaluate(() => [...document.querySelectorAll(".uplot, .bars")].every((one) => one.isFirst)));
  assert.equal(await page.textContent(".card-head h2"), name);
  assert.match(await page.textContent(".bars .facts"), /391 buffers/);
  assert.equal(await page.locator(".blocks").count(), 1);
  await page.click("#tab-table");
  await settle(page);
  assert.match(await page.textContent("#table-count"), /391 buffers/);
  assert.deepEqual(page.complaints, []);
});

test("a link to a step, a buffer and a zoom is followed once the columns are here", async () => {
  const direct = await newPage(browser, server);
  await open(direct, server, `${VIEW}&step=500&zoom=400,600&panel=table&filter=fusion`);
  await direct.locator(".buffers tr[data-row]").first().click();
  await settle(direct);
  const link = new URL(direct.url()).search;
  const expected = await direct.textContent(".bars .facts");
  const { page, whole } = await openFirst(link);
  assert.equal(await page.locator(".bars").count(), 0, "no bars of another step than the link's");
  await page.keyboard.press("ArrowRight");
  await page.mouse.move(...(await boxOf(page, ".u-over canvas")).at(0.5, 0.5));
  await page.evaluate(() => {
    window.wheeled = new Promise((resolve) => window.addEventListener("wheel", resolve, { once: true }));
  });
  await page.mouse.wheel(0, -200);
  await page.evaluate(async () => void (await window.wheeled));
  await whole();
  assert.equal(await page.textContent(".bars .facts"), expected);
  assert.equal(await param(page, "zoom"), "400,600");
  assert.equal(await page.textContent(".card-head h2"), await direct.textContent(".card-head h2"));
  assert.equal(await page.textContent(".found"), await direct.textContent(".found"));
  assert.deepEqual(page.complaints, []);
});

test("what is typed while the columns come stays and is searched", async () => {
  const { page, whole } = await openFirst(VIEW);
  await page.fill("#search", "fusion");
  await whole();
  assert.equal(await page.inputValue("#search"), "fusion");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "search");
  assert.match(await page.textContent(".found"), /^\d+ of 740$/);
});

test("columns that fail say so", async () => {
  const { page, release } = await openFirst(VIEW, (route) =>
    route.fulfill({ status: 500, json: { error: { code: "internal", message: "The disk went away." } } }),
  );
  release();
  await page.waitForFunction(() => document.querySelector("#main").textContent.includes("The disk went away."));
});
