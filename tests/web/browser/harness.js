// Starts the real program on a log directory and a headless Chromium on its page.
// HBMVIEW: the program (default build/hbmview). HBMVIEW_BROWSER or CHROMIUM: the browser. HBMVIEW_LOGDIR: the profiles.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { chromium } from "playwright-core";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const PROGRAM = path.resolve(ROOT, process.env.HBMVIEW ?? "build/hbmview");
const BROWSER = process.env.HBMVIEW_BROWSER ?? process.env.CHROMIUM ?? "/usr/bin/chromium";
const BROWSER_FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
const START_LIMIT_MS = 15000;

export const LOGDIR = path.resolve(ROOT, process.env.HBMVIEW_LOGDIR ?? "tests/fixtures/logdir");

/** @returns {Promise<{url: string, stop: () => void}>} */
export function startServer(logdir = LOGDIR, options = [], environment = {}) {
  const child = spawn(PROGRAM, [`--logdir=${logdir}`, "--port=0", ...options], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  return new Promise((resolve, reject) => {
    let said = "";
    const timer = setTimeout(() => reject(new Error(`no address from ${PROGRAM}: ${said}`)), START_LIMIT_MS);
    const read = (chunk) => {
      said += chunk;
      const url = /https?:\/\/\S+/.exec(said)?.[0];
      if (!url) return;
      clearTimeout(timer);
      resolve({ url, stop: () => child.kill() });
    };
    child.stdout.on("data", read);
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${PROGRAM} ended with ${code}: ${said}`)));
  });
}

/** A browser that lets go of routed requests before it closes: a page that polls always has one under way. */
export async function startBrowser(flags = []) {
  const args = [...BROWSER_FLAGS, ...flags];
  const browser = await chromium.launch({ executablePath: BROWSER, headless: true, args });
  const close = browser.close.bind(browser);
  browser.close = async () => {
    const pages = browser.contexts().flatMap((context) => context.pages());
    await Promise.all(pages.map((page) => page.unrouteAll({ behavior: "ignoreErrors" })));
    await close();
  };
  return browser;
}

/**
 * A page with its complaints: script errors, refused loads and requests to anywhere but the server.
 * @returns {Promise<import("playwright-core").Page & {complaints: string[]}>}
 */
export async function newPage(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const { origin, hostname } = new URL(server.url);
  if (hostname === "localhost") await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
  await context.addInitScript(countWork);
  const page = await context.newPage();
  page.complaints = [];
  page.on("pageerror", (error) => page.complaints.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error" && !/Failed to load resource/.test(message.text()))
      page.complaints.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(server.url).origin) page.complaints.push(`loads ${request.url()}`);
  });
  return page;
}

/** Opens a query and waits for all charts, or for a message in their place. */
export async function open(page, server, query) {
  await page.goto(new URL(query, server.url).href);
  await page.waitForFunction(
    () =>
      document.querySelector(".message") ||
      (performance.getEntriesByName("hbmview-painted").length > 0 &&
        !document.querySelector(".workspace[aria-busy]")),
  );
  await settle(page);
}

/** Runs in the page before its scripts: counts the frames, short timers and requests that it still waits for. */
function countWork() {
  const LONG_MS = 1000; // a word that goes away again, another look at the sessions: nobody waits for those
  const { setTimeout: later, clearTimeout: notLater, requestAnimationFrame: inFrame, fetch: reach } = window;
  const timers = new Set();
  let frames = 0;
  let replies = 0;
  const reply = (promise) => {
    replies += 1;
    return promise.finally(() => {
      replies -= 1;
    });
  };
  window.setTimeout = (run, ms = 0, ...args) => {
    const timer = later(() => {
      timers.delete(timer);
      run(...args);
    }, ms);
    if (ms < LONG_MS) timers.add(timer);
    return timer;
  };
  window.clearTimeout = (timer) => {
    timers.delete(timer);
    notLater(timer);
  };
  window.requestAnimationFrame = (run) => {
    frames += 1;
    return inFrame((now) => {
      frames -= 1;
      run(now);
    });
  };
  window.fetch = (...args) => reply(reach(...args));
  for (const name of ["json", "text", "arrayBuffer"]) {
    const read = Response.prototype[name];
    Response.prototype[name] = function counted() {
      return reply(read.call(this));
    };
  }
  /** Nothing is left to do in two frames one after the other: what the first one resized has been drawn by the next. */
  window.atRest = async () => {
    for (let quiet = 0; quiet < 2; ) {
      await new Promise((resolve) => inFrame(resolve));
      quiet = timers.size + frames + replies === 0 ? quiet + 1 : 0;
    }
  };
}

/** Frames, debounced requests and the address have caught up. */
export const settle = (page) => page.evaluate(() => window.atRest());

export const param = (page, name) => page.evaluate((key) => new URLSearchParams(location.search).get(key), name);

/** What a canvas shows, for telling whether it changed. */
export const picture = (page, selector) => page.evaluate((one) => document.querySelector(one).toDataURL(), selector);

export async function boxOf(page, selector) {
  await page.locator(selector).scrollIntoViewIfNeeded();
  const box = await page.locator(selector).boundingBox();
  return { ...box, at: (shareX, shareY) => [box.x + shareX * box.width, box.y + shareY * box.height] };
}

/** What `act` puts on the clipboard: it is read once something new is there. */
export async function copiedBy(page, act) {
  await page.evaluate(() => navigator.clipboard.writeText("nothing yet"));
  await act();
  return page.evaluate(async () => {
    for (;;) {
      const text = await navigator.clipboard.readText();
      if (text !== "nothing yet") return text;
      await new Promise(requestAnimationFrame);
    }
  });
}
