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
export const SETTLE_MS = 250;

/** @returns {Promise<{url: string, stop: () => void}>} */
export function startServer(logdir = LOGDIR, options = []) {
  const child = spawn(PROGRAM, [`--logdir=${logdir}`, "--port=0", ...options], { stdio: ["ignore", "pipe", "pipe"] });
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

export function startBrowser() {
  return chromium.launch({ executablePath: BROWSER, headless: true, args: BROWSER_FLAGS });
}

/**
 * A page with its complaints: script errors, refused loads and requests to anywhere but the server.
 * @returns {Promise<import("playwright-core").Page & {complaints: string[]}>}
 */
export async function newPage(browser, server, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const { origin, hostname } = new URL(server.url);
  if (hostname === "localhost") await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin });
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

/** Opens a query and waits for the first charts, or for a message in their place. */
export async function open(page, server, query) {
  await page.goto(new URL(query, server.url).href);
  await page.waitForFunction(
    () => performance.getEntriesByName("hbmview-painted").length > 0 || document.querySelector(".message"),
  );
  await settle(page);
}

/** Frames, debounced requests and the address have caught up. */
export const settle = (page) => page.waitForTimeout(SETTLE_MS);

export const param = (page, name) => page.evaluate((key) => new URLSearchParams(location.search).get(key), name);

/** What a canvas shows, for telling whether it changed. */
export const picture = (page, selector) => page.evaluate((one) => document.querySelector(one).toDataURL(), selector);

export async function boxOf(page, selector) {
  const box = await page.locator(selector).boundingBox();
  return { ...box, at: (shareX, shareY) => [box.x + shareX * box.width, box.y + shareY * box.height] };
}
