// The page behind what users have before it, in a real browser: every chart painted, nothing refused, news heard,
// a link that a colleague can open, a saved page.
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { newPage, open, settle, startBrowser, startServer } from "../browser/harness.js";
import { startNginx, startNotebook, startTunnel } from "./front.js";

const VIEW = "?run=v5e_gpt_4layer";
const TOKEN = "0123456789abcdef0123456789abcdef";
const BARS = "canvas[data-order=size]";
let browser;

before(async () => {
  browser = await startBrowser(["--host-resolver-rules=MAP *.example 127.0.0.1"]);
});

after(() => browser?.close());

/** What the page and its frames asked for in vain. */
function refusedBy(page) {
  const refused = [];
  page.on("response", (one) => one.status() >= 400 && refused.push(`${one.status()} ${one.url()}`));
  page.on("requestfailed", (one) => {
    const isStopped = one.failure()?.errorText === "net::ERR_ABORTED";
    if (!isStopped) refused.push(`${one.failure()?.errorText} ${one.url()}`);
  });
  return refused;
}

const isPainted = (selector) =>
  [...document.querySelectorAll(selector)].some((canvas) =>
    canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((value) => value !== 0),
  );

/** Both tools with their charts, from the page or a frame in it. */
async function lookAt(view) {
  assert.ok(await view.evaluate(isPainted, BARS));
  assert.ok(await view.evaluate(isPainted, ".uplot canvas"));
  await view.waitForFunction(() => document.documentElement.dataset.live === "on");
}

async function saveFrom(page, view) {
  const [download] = await Promise.all([page.waitForEvent("download"), view.click("#save-page")]);
  assert.match(download.suggestedFilename(), /\.html$/);
  assert.equal(await download.failure(), null);
}

/** The link that "Copy link" gives; where the browser lets no page copy, it is told instead. */
async function linkFrom(view) {
  await view.click("#copy-link");
  return (await view.waitForSelector(".said[title]", { state: "attached" })).getAttribute("title");
}

async function works(front, options = {}) {
  const page = await newPage(browser, front, { acceptDownloads: true, ...options });
  const refused = refusedBy(page);
  await open(page, front, front.url + VIEW);
  await lookAt(page);
  assert.ok(page.url().startsWith(front.url), page.url());
  await saveFrom(page, page);
  const link = await linkFrom(page);
  assert.ok(link.startsWith(front.url), link);
  await open(page, front, link);
  await lookAt(page);
  await open(page, front, `${front.url}?run=tf_leak&tag=memory_profile`);
  assert.ok(await page.evaluate(isPainted, "canvas"));
  assert.deepEqual(refused, []);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  return link;
}

test("under a path of nginx, by TLS, with a token that moves into a cookie of that path", async () => {
  const server = await startServer(undefined, ["--behind_proxy"], { HBMVIEW_TOKEN: TOKEN });
  const front = await startNginx(server);
  try {
    const context = { ignoreHTTPSErrors: true };
    const first = await newPage(browser, front, context);
    await open(first, front, `${front.url}${VIEW}&token=${TOKEN}`);
    await lookAt(first);
    assert.ok(!first.url().includes("token"));
    const [cookie] = await first.context().cookies();
    assert.deepEqual([cookie.path, cookie.secure, cookie.httpOnly], ["/tools/hbm/", true, true]);
    const link = await linkFrom(first);
    assert.ok(link.startsWith(`${front.url}?token=${TOKEN}&`), link);
    const storageState = await first.context().storageState();
    await first.context().close();
    await works(front, { ...context, storageState });
  } finally {
    await front.stop();
    server.stop();
  }
});

/** A page of another site that shows `address` in a frame. */
async function startFrame(address) {
  const outer = createServer((_, to) => {
    to.writeHead(200, { "Content-Type": "text/html" });
    const frame = `<iframe src="${address}" width="1200" height="780"></iframe>`;
    to.end(`<!doctype html><link rel="icon" href="data:,">${frame}`);
  });
  await new Promise((resolve) => outer.listen(0, "127.0.0.1", resolve));
  const stop = () => outer.close() && outer.closeAllConnections();
  return { url: `http://hub.example:${outer.address().port}/`, stop };
}

test("in a frame of another site, with its cookie", async () => {
  const options = ["--behind_proxy", "--frame_ancestors=http://hub.example:*"];
  const server = await startServer(undefined, options, { HBMVIEW_TOKEN: TOKEN });
  const front = await startNginx(server);
  const outer = await startFrame(`${front.url}${VIEW}&amp;token=${TOKEN}`);
  try {
    const page = await newPage(browser, front, { ignoreHTTPSErrors: true, acceptDownloads: true });
    const refused = refusedBy(page);
    await page.goto(outer.url);
    const view = await (await page.waitForSelector("iframe")).contentFrame();
    await view.waitForFunction(
      () =>
        performance.getEntriesByName("hbmview-painted").length > 0 &&
        !document.querySelector(".workspace[aria-busy]"),
    );
    await settle(view);
    await lookAt(view);
    await saveFrom(page, view);
    assert.ok((await linkFrom(view)).startsWith(front.url));
    assert.deepEqual(refused, []);
    await page.context().close();
  } finally {
    outer.stop();
    await front.stop();
    server.stop();
  }
});

test("behind a notebook's proxy", async () => {
  const server = await startServer(undefined, ["--behind_proxy"]);
  const front = await startNotebook(server, "hub.example");
  try {
    await works(front);
  } finally {
    await front.stop();
    server.stop();
  }
});

test("through a tunnel with a name of its own", async () => {
  const server = await startServer(undefined, ["--allow_host=*.tunnels.example"]);
  const front = await startTunnel(server, "abc-6006.tunnels.example");
  try {
    await works(front);
  } finally {
    front.stop();
    server.stop();
  }
});
