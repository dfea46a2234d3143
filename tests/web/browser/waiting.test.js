// A bucket that takes its time, or says no: the page says what it waits for, can stop it, and tries again.
import { after, before, beforeEach, afterEach, test } from "node:test";
import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { LOGDIR, newPage, open, settle, startBrowser, startServer } from "./harness.js";
import { startBucket } from "./held_bucket.js";

const FIXTURES = path.join(LOGDIR, "plugins", "profile");
const HELD = "v5e_matmul";
const OTHER = "v5e_padded";
let browser;
let root;
let bucket;
let server;
let page;

before(async () => {
  browser = await startBrowser();
  root = await mkdtemp(path.join(os.tmpdir(), "hbmview-waiting-"));
  for (const session of [HELD, OTHER])
    await cp(path.join(FIXTURES, session), path.join(root, "run/plugins/profile", session), { recursive: true });
});
after(async () => {
  await browser.close();
  await rm(root, { recursive: true });
});

beforeEach(async () => {
  bucket = await startBucket(root);
  server = await startServer(bucket.url, [], bucket.environment);
  page = await newPage(browser, server);
});
afterEach(async () => {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  bucket.stop();
  server.stop();
});

const address = (session) => new URL(`?run=${session}&tag=memory_viewer`, server.url).href;
const said = () => page.locator(".progress-text");
const stopButton = () => page.getByRole("button", { name: "Stop" });
const again = () => page.getByRole("button", { name: "Try again" });

/** Opens a session whose file the bucket keeps back, until the page says so. */
async function waitFor(session) {
  bucket.hold(new RegExp(`/${session}/.*xplane`));
  await page.goto(address(session));
  await said().filter({ hasText: "reading tpu-vm-0.xplane.pb" }).waitFor();
}

const charts = () => page.locator(".workspace:not([aria-busy])");

test("the page says what is read, and shows it when it is there", async () => {
  await waitFor(HELD);
  await stopButton().waitFor();
  bucket.release();
  await charts().waitFor();
  await settle(page);
  assert.equal(await page.locator(".progress").isHidden(), true);
  assert.equal(await stopButton().isHidden(), true);
});

test("stopped by the mouse, the server reads no further, and all of it can be tried again", async () => {
  await waitFor(HELD);
  await stopButton().click();
  await page.locator(".message", { hasText: "Stopped" }).waitFor();
  await page.waitForFunction(async () => (await (await fetch("/api/v1/work")).json()).requests.length === 0);
  assert.equal(await page.locator(".progress").isHidden(), true);
  assert.equal(await page.locator(".message .error-line").count(), 0, "it is no fault");
  assert.equal(await page.locator("#pick-hosts").isVisible(), false, "nobody knows its hosts yet");
  bucket.release();
  await again().click();
  await charts().waitFor();
  await settle(page);
});

test("the same by the keyboard", async () => {
  await waitFor(HELD);
  await stopButton().focus();
  await page.keyboard.press("Enter");
  await again().waitFor();
  bucket.release();
  await again().focus();
  await page.keyboard.press("Enter");
  await charts().waitFor();
  await settle(page);
});

test("another session opens while one hangs", async () => {
  await waitFor(HELD);
  await page.evaluate((session) => {
    const query = new URLSearchParams(location.search);
    query.set("run", session);
    history.pushState(null, "", `?${query}`);
    dispatchEvent(new PopStateEvent("popstate"));
  }, OTHER);
  await charts().waitFor();
  assert.match(await page.title(), new RegExp(OTHER));
  assert.ok(bucket.held() > 0);
  bucket.release();
  await settle(page);
});

test("a bucket that refuses is told with object and command, and tried again", async () => {
  bucket.refuse(403, new RegExp(`/${HELD}/.*xplane`));
  await open(page, server, `?run=${HELD}&tag=memory_viewer`);
  const text = await page.locator(".message").innerText();
  assert.match(text, new RegExp(`s3://bucket/run/plugins/profile/${HELD}/tpu-vm-0.xplane.pb`));
  assert.match(text, /403/);
  bucket.refuse(0);
  await open(page, server, `?run=${OTHER}&tag=memory_viewer`);
  assert.equal(await page.locator(".message").count(), 0);
});
