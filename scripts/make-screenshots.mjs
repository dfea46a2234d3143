// Takes the README's screenshots again, from the fixtures: node scripts/make-screenshots.mjs
// The browser may talk to hbmview only, as on a machine without internet.
import { mkdirSync, readFileSync } from "node:fs";
import { newPage, open, startBrowser, startServer } from "../tests/web/browser/harness.js";

const FOLDER = "docs/images";
const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer&module_name=jit_train_step(1)&capacity=15.75GiB";
const SHOTS = [
  { name: "memory-viewer-light", query: OOM, colorScheme: "light", viewport: { width: 1280, height: 800 } },
  {
    name: "memory-viewer-dark",
    query: `${OOM}&buffer=11471`,
    colorScheme: "dark",
    viewport: { width: 1700, height: 1100 },
  },
  {
    name: "memory-profile-light",
    query: "?run=tf_oom&tag=memory_profile&panel=fragmentation",
    colorScheme: "light",
    viewport: { width: 1280, height: 1000 },
  },
  {
    name: "memory-profile-dark",
    query: "?run=tf_leak&tag=memory_profile&panel=leaks",
    colorScheme: "dark",
    viewport: { width: 1700, height: 1100 },
  },
  {
    name: "out-of-memory-light",
    query: "?tag=out_of_memory",
    colorScheme: "light",
    viewport: { width: 1280, height: 1000 },
    act: paste("tests/fixtures/oom_messages/v5e_gpt_12layer_oom.txt"),
  },
];

/** Hands a message to the page, and waits for what it means. */
function paste(file) {
  return async (page) => {
    await page.fill("textarea", readFileSync(file, "utf8"));
    await page.keyboard.press("Control+Enter");
    await page.waitForSelector(".oom-fixes");
  };
}

mkdirSync(FOLDER, { recursive: true });
const server = await startServer();
const browser = await startBrowser();
try {
  for (const { name, query, act, ...look } of SHOTS) {
    const page = await newPage(browser, server, look);
    await open(page, server, query);
    if (act) await act(page);
    await page.waitForTimeout(600); // the details of the largest buffer come after the charts
    await page.screenshot({ path: `${FOLDER}/${name}.png` });
    if (page.complaints.length) throw new Error(`${name}: ${page.complaints.join("; ")}`);
    await page.close();
  }
} finally {
  await browser.close();
  server.stop();
}
