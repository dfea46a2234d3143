// How long from navigation to painted charts, in a browser that has never seen the page, then in the same one again:
//
//     page_paint.js URL          prints two numbers, milliseconds: cold, warm
//
// The page marks the frame in which the charts stand (performance.mark "hbmview-painted").
import { newPage, startBrowser } from "../web/browser/harness.js";

async function paintedMs(page, url) {
  await page.goto(url);
  await page.waitForFunction(() => performance.getEntriesByName("hbmview-painted").length > 0);
  return page.evaluate(() => performance.getEntriesByName("hbmview-painted")[0].startTime);
}

const url = process.argv[2];
const browser = await startBrowser();
try {
  const page = await newPage(browser, { url });
  const cold = await paintedMs(page, url);
  const warm = await paintedMs(page, url);
  if (page.complaints.length > 0) throw new Error(page.complaints.join("\n"));
  process.stdout.write(`${cold.toFixed(1)} ${warm.toFixed(1)}\n`);
} finally {
  await browser.close();
}
