// What a run writes while the page is open: it is marked, and what one reads stays.
import { after, before, beforeEach, afterEach, test } from "node:test";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { LOGDIR, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";

const FIXTURES = path.join(LOGDIR, "plugins", "profile");
const LONG_AGO = new Date("2025-01-01");
let browser;
let server;
let root;
let page;

before(async () => {
  browser = await startBrowser();
});
after(() => browser.close());

beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), "hbmview-live-"));
  server = await startServer(root);
  page = await newPage(browser, server);
});
afterEach(async () => {
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  server.stop();
  await rm(root, { recursive: true });
});

const folderOf = (session) => path.join(root, "plugins", "profile", session);

/**
 * A fixture's session as another one, whole at once: what was written a while ago is not waited for. One that is there
 * is replaced file by file, all of one name: at no moment is it gone.
 */
async function add(session, fixture = "v5e_matmul") {
  const aside = `${root}-aside`; // the server looks into all of the root
  await cp(path.join(FIXTURES, fixture), aside, { recursive: true });
  for (const name of await readdir(aside)) await utimes(path.join(aside, name), LONG_AGO, LONG_AGO);
  await mkdir(path.dirname(folderOf(session)), { recursive: true });
  if (!existsSync(folderOf(session))) return rename(aside, folderOf(session));
  for (const name of await readdir(aside)) await rename(path.join(aside, name), path.join(folderOf(session), name));
  await rm(aside, { recursive: true });
}

/** Opens it, and waits until the server would tell of news. */
async function listenAt(query) {
  await open(page, server, query);
  await page.locator("html[data-live]").waitFor({ state: "attached" });
  await settle(page);
}

/** The address follows once the view is drawn. */
async function opened(session) {
  await page.locator(".workspace").waitFor();
  await page.waitForURL((url) => url.searchParams.get("run") === session);
}

const mark = () => page.locator("#session-news");
const marked = (text) => mark().filter({ hasText: text }).waitFor();

test("new sessions are marked, and what one reads stays", async () => {
  await add("run1", "v5e_gpt_12layer_oom");
  await listenAt("?run=run1&tag=memory_viewer");
  await page.locator(".bar-row").nth(2).click();
  await settle(page);
  await page.locator("main").evaluate((main) => main.scrollTo(0, 120));
  await page.locator("#theme").focus();
  await settle(page);
  const seen = () =>
    page.evaluate(() => [
      location.search,
      document.querySelector("main").scrollTop,
      document.activeElement.id,
      document.title,
      document.querySelector(".dock-body").textContent,
    ]);
  const before = await seen();
  const chart = await picture(page, "main canvas");
  assert.equal(before[1], 120);
  assert.match(before[0], /buffer=/);
  await add("run2");
  await marked("1 new");
  await add("run3");
  await marked("2 new");
  await settle(page);
  assert.deepEqual(await seen(), before);
  assert.equal(await picture(page, "main canvas"), chart);
  assert.equal(await page.locator("#sessions-title").textContent(), "Sessions (3)");
  assert.match(await page.locator(".only-said").textContent(), /^2 new/);
  assert.equal(await page.locator(".notice").isVisible(), false);
});

test("the list shows which are new, until it was looked at", async () => {
  await add("run1");
  await listenAt("?run=run1&tag=memory_viewer");
  await add("run2");
  await marked("1 new");
  await page.keyboard.press("Tab");
  await mark().focus();
  await page.keyboard.press("Enter");
  const rows = page.locator("#session-list .session");
  await rows.nth(1).waitFor();
  assert.deepEqual(await rows.locator(".session-name").allTextContents(), ["newrun2", "run1"]);
  await page.keyboard.press("Escape");
  assert.equal(await mark().isVisible(), false);
  assert.equal(await page.evaluate(() => document.activeElement.id), "pick-sessions");
});

test("news do not move the list that one chooses from", async () => {
  for (const name of ["run1", "run2", "run3"]) await add(name);
  await listenAt("?run=run3&tag=memory_viewer");
  await page.locator("#pick-sessions").click();
  await page.keyboard.press("ArrowDown");
  const active = page.locator("#session-list .active");
  const name = () => active.getAttribute("data-run");
  assert.equal(await name(), "run2");
  await add("run4");
  await page.locator("#session-list .session[data-run=run4]").waitFor({ state: "attached" });
  assert.equal(await name(), "run2");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => new URLSearchParams(location.search).get("run") === "run2");
});

test("a session that was replaced is told, and read anew when one wants it", async () => {
  await add("run1", "v5e_matmul");
  await listenAt("?run=run1&tag=memory_viewer");
  const module = await param(page, "module_name");
  await add("run1", "v5e_padded");
  await page.locator(".notice").waitFor();
  assert.match(await page.locator(".notice").textContent(), /This session has changed/);
  assert.equal(await param(page, "module_name"), module);
  assert.equal(await mark().isVisible(), false);
  await page.keyboard.press("r");
  await page.locator(".notice").waitFor({ state: "hidden" });
  await page.waitForFunction(() => document.querySelector("#side-tool")?.textContent.includes("jit_f(1)"));
});

test("reloaded by mouse, the page is where it was", async () => {
  await add("run1", "v5e_gpt_12layer_oom");
  await listenAt("?run=run1&tag=memory_viewer");
  await page.locator("main").evaluate((main) => main.scrollTo(0, 150));
  const address = new URL(page.url()).search;
  await page.evaluate(() => (document.querySelector(".workspace").dataset.before = "yes"));
  await add("run1", "v5e_gpt_12layer_oom");
  await page.locator("#reload-changed").click();
  await page.waitForFunction(() => document.querySelector(".workspace:not([data-before]):not([aria-busy])"));
  await page.waitForFunction(() => document.querySelector("main").scrollTop === 150);
  assert.equal(new URL(page.url()).search, address);
});

test("a session that goes is told; what was read stays", async () => {
  await add("run1");
  await add("run0");
  await listenAt("?run=run1&tag=memory_viewer");
  await rm(folderOf("run1"), { recursive: true });
  await page.locator(".notice").filter({ hasText: "run1 is no longer there" }).waitFor();
  assert.equal(await page.locator("#reload-changed").isVisible(), false);
  assert.ok(await page.locator(".workspace").isVisible());
  await page.getByRole("button", { name: "dismiss" }).click();
  assert.equal(await page.locator(".notice").isVisible(), false);
});

test("where there was nothing, the first session opens by itself", async () => {
  await listenAt("?");
  assert.match(await page.locator(".message h2").textContent(), /No profile data/);
  await add("run1");
  await opened("run1");
  assert.equal(await mark().isVisible(), false);
});

test("one that is asked for before it is there opens when it comes", async () => {
  await add("run1");
  await listenAt("?run=run2&tag=memory_viewer");
  assert.match(await page.locator(".message h2").textContent(), /There is no session "run2"/);
  await add("run2");
  await opened("run2");
});

test("a file that is being written is a mark only when it is whole", async () => {
  await add("run1");
  await listenAt("?run=run1&tag=memory_viewer");
  await mkdir(folderOf("run2"));
  await writeFile(path.join(folderOf("run2"), "host.xplane.pb"), Buffer.from([0x0a, 0x05]));
  await page.locator(".side-note p").filter({ hasText: "not complete: run2" }).waitFor();
  assert.equal(await mark().isVisible(), false);
  await writeFile(path.join(folderOf("run2"), "host.xplane.pb"), Buffer.from([0x0a, 0x00]));
  await marked("1 new");
});

test("several pages are told, and again after the server was away", async () => {
  await add("run1");
  await listenAt("?run=run1&tag=memory_viewer");
  const other = await newPage(browser, server);
  await open(other, server, "?run=run1&tag=memory_viewer");
  await other.locator("html[data-live]").waitFor({ state: "attached" });
  const { port } = new URL(server.url);
  server.stop();
  await page.locator("html:not([data-live])").waitFor({ state: "attached" });
  await other.locator("html:not([data-live])").waitFor({ state: "attached" });
  await add("run2");
  server = await startServer(root, [`--port=${port}`]);
  await marked("1 new");
  await other.locator("#session-news").filter({ hasText: "1 new" }).waitFor();
  assert.deepEqual(other.complaints, []);
  assert.ok(await page.locator(".workspace").isVisible());
  assert.equal(await page.locator(".message").count(), 0);
  await other.context().close();
});
