// The longest frame while somebody searches, steps and zooms: of each action the page's main thread is traced, and its
// longest task counts, in the thread's own time, so that another program on the machine counts for nothing.

const CATEGORIES = ["disabled-by-default-devtools.timeline", "devtools.timeline", "toplevel"];

/** @param {{name: string, run: (page: import("playwright-core").Page) => Promise<void>}[]} actions */
export async function longestFrames(browser, page, actions) {
  const longest = [];
  for (const { name, run } of actions) {
    await browser.startTracing(page, { categories: CATEGORIES });
    await run(page);
    await page.evaluate(() => window.atRest());
    const { traceEvents } = JSON.parse(String(await browser.stopTracing()));
    longest.push({ name, ms: longestTaskMs(traceEvents) });
  }
  return longest;
}

function longestTaskMs(events) {
  const mains = new Set();
  for (const { name, args, pid, tid } of events)
    if (name === "thread_name" && args.name === "CrRendererMain") mains.add(`${pid} ${tid}`);
  const tasks = events.filter((one) => one.name === "RunTask" && mains.has(`${one.pid} ${one.tid}`));
  if (tasks.length === 0) throw new Error("the trace has no task of the page");
  return Math.max(...tasks.map((task) => task.tdur ?? task.dur ?? 0)) / 1000;
}
