// How long the page takes to its charts, in multiples of a bare page, and of a small program, in the same run:
//
//     page_speed.js LOGDIR_OF_A_LARGE_PROGRAM        (make bench-page)
//
//     first visit    a browser that has never seen the page
//     second visit   the same browser again, once the page of the first one rests
//     slow line      both over 50 ms and 20 Mbit/s, as through ssh -L from elsewhere
//     large          500,000 buffers and a million heap events (large_program.py), beside the 12 layers
//
// Trials alternate between what is compared. The server has opened the program before, and has room to keep it: this is
// about the page. The page marks the frame in which its first charts stand ("hbmview-painted"); addresses are as it
// writes them itself, with the module.
import { boxOf, newPage, open, startBrowser, startServer } from "../web/browser/harness.js";
import { startBarePage } from "./bare_page.js";
import { longestFrames } from "./page_frames.js";

const TRIALS = Number(process.env.TRIALS ?? 11);
const SLOW = { offline: false, latency: 50, downloadThroughput: 20e6 / 8, uploadThroughput: 20e6 / 8 };
const SMALL = "?run=v5e_gpt_12layer_oom&tag=memory_viewer&module_name=jit_train_step(1)";
const LARGE = "?run=large&tag=memory_viewer&module_name=jit_large(1)";
const COLUMNS_OF_LARGE = "api/v1/memory_view?session=large&module=jit_large(1)&delta=1";
const LARGE_EVENTS = 1e6;
const OPEN_LIMIT_MS = 120000;
const CURVE = ".u-over canvas";

async function visit(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName("hbmview-painted").length > 0);
  return page.evaluate(() => {
    const ms = performance.getEntriesByName("hbmview-painted")[0].startTime;
    const before = [
      ...performance.getEntriesByType("navigation"),
      ...performance.getEntriesByType("resource").filter((one) => one.startTime < ms),
    ];
    return { ms, requests: before.length, bytes: before.reduce((sum, one) => sum + one.transferSize, 0) };
  });
}

/** The first and the second visit of a browser that has never seen the page. */
async function twoVisits(browser, url, line) {
  const page = await newPage(browser, { url });
  page.setDefaultTimeout(OPEN_LIMIT_MS);
  if (line) {
    const session = await page.context().newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", line);
  }
  const visits = [await visit(page, url)];
  await page.evaluate(() => window.atRest());
  visits.push(await visit(page, url));
  if (page.complaints.length > 0) throw new Error(page.complaints.join("\n"));
  await page.context().close();
  return visits;
}

async function trials(browser, urls, line) {
  const found = urls.map(() => []);
  for (let i = 0; i < TRIALS; i += 1)
    for (const [which, url] of urls.entries()) found[which].push(await twoVisits(browser, url, line));
  return found;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

const medianOf = (visits, nth, key) => median(visits.map((both) => both[nth][key]));

function row(what, base, ours, value, most, rest = "") {
  const met = value <= most ? "yes" : "**no**";
  console.log(`| ${what} | ${base} | ${ours} | ${value} | <= ${most} | ${met} | ${rest} |`);
}

function rowOfVisits(what, [base, ours], nth, most) {
  const [baseMs, ms] = [medianOf(base, nth, "ms"), medianOf(ours, nth, "ms")];
  const asked = `${medianOf(ours, nth, "requests")} requests, ${(medianOf(ours, nth, "bytes") / 1000).toFixed(0)} kB`;
  row(what, `${baseMs.toFixed(0)} ms`, `${ms.toFixed(0)} ms`, (ms / baseMs).toFixed(2), most, asked);
}

const press = (key) => ({ name: `key ${key}`, run: (page) => page.keyboard.press(key) });
const ACTIONS = [
  press("ArrowRight"),
  {
    name: "click on the curve",
    run: async (page) => page.mouse.click(...(await boxOf(page, CURVE)).at(0.3, 0.5)),
  },
  press("w"),
  {
    name: "wheel",
    run: async (page) => {
      await page.mouse.move(...(await boxOf(page, CURVE)).at(0.5, 0.5));
      for (let i = 0; i < 5; i += 1) await page.mouse.wheel(0, -120);
    },
  },
  press("0"),
  { name: "search, a key", run: (page) => page.locator("#search").pressSequentially("l") },
  { name: "search, another key", run: (page) => page.locator("#search").pressSequentially("a") },
];

async function frames(browser, server) {
  const page = await newPage(browser, server);
  page.setDefaultTimeout(OPEN_LIMIT_MS);
  await open(page, server, LARGE);
  const longest = await longestFrames(browser, page, ACTIONS);
  for (const { name, ms } of longest) row(`large, longest frame: ${name}`, "", "", ms.toFixed(1), 50);
  await page.context().close();
}

async function columnBytes(server) {
  const reply = await fetch(new URL(COLUMNS_OF_LARGE, server.url));
  await reply.arrayBuffer();
  return Number(reply.headers.get("content-length")) / LARGE_EVENTS;
}

const [small, large, bare] = [
  await startServer(),
  await startServer(process.argv[2], ["--cache_mib=1024"]),
  await startBarePage(),
];
const browser = await startBrowser();
const [smallUrl, largeUrl] = [`${small.url}${SMALL}`, `${large.url}${LARGE}`];
for (const url of [smallUrl, largeUrl]) await twoVisits(browser, url, null);
console.log("| navigation to painted charts, median | yardstick | hbmview | value | wanted | met | asked before |");
console.log("|---|---|---|---|---|---|---|");
for (const [name, line, most] of [["", null, [1.6, 1.3]], [", slow line", SLOW, [1.3, 1.3]]]) {
  const found = await trials(browser, [bare.url, smallUrl], line);
  rowOfVisits(`first visit${name}, x bare page`, found, 0, most[0]);
  rowOfVisits(`second visit${name}, x bare page`, found, 1, most[1]);
}
const found = await trials(browser, [smallUrl, largeUrl], null);
rowOfVisits("large program, x the 12 layers", found, 0, 1.5);
row("large program, kB before the first charts", "", "", (medianOf(found[1], 0, "bytes") / 1000).toFixed(0), 200);
row("large program, bytes of columns an event", "", "", (await columnBytes(large)).toFixed(1), 16);
await frames(browser, large);
await browser.close();
for (const server of [small, large, bare]) server.stop();
