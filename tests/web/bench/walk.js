// How long a new user takes to three answers: node tests/web/bench/walk.js LOGDIR BEFORE AFTER
//
//     first screen                      the address is opened
//     which line holds the most         the session BEFORE is looked for by typing, and chosen
//     what changed                      Compare is opened, the session AFTER chosen
//     sent to a colleague               the link is in the clipboard
//
// Real clicks and keys in a real browser, 120 ms a letter; nobody reads or thinks. Times count from the server's start.
import { copiedBy, newPage, settle, startBrowser, startServer } from "../browser/harness.js";

const LETTER_MS = 120;
const [logdir, before, after] = process.argv.slice(2);
if (!after) throw new Error("give a log directory and two of its sessions: LOGDIR BEFORE AFTER");

const started = performance.now();
const server = await startServer(logdir);
const browser = await startBrowser();
try {
  const page = await newPage(browser, server);
  let acts = 0;
  const say = (answer, found = "") => {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`${seconds} s, ${acts} clicks and keys: ${answer}${found && `: ${found}`}`);
  };
  const act = async (action, count = 1) => {
    await action;
    acts += count;
  };

  await page.goto(server.url);
  await page.waitForSelector(".headline-figures");
  say("first screen");

  await act(page.click("#pick-sessions"));
  await act(page.keyboard.type(before, { delay: LETTER_MS }), before.length);
  await act(page.click(`[data-run="${before}"]`));
  await page.waitForFunction((run) => new URLSearchParams(location.search).get("run") === run, before);
  await settle(page);
  say("which line holds the most", await textOf(page.locator(".who tr[data-row]").first()));

  await act(page.click("#compare"));
  const choice = page.locator("#side-tool select", { has: page.locator(`option[value="${after}"]`) }).first();
  await choice.waitFor();
  await act(choice.selectOption(after), 2);
  await page.waitForFunction((run) => new URLSearchParams(location.search).get("run_b") === run, after);
  await settle(page);
  say("what changed", await textOf(page.locator("#main tbody tr", { hasText: ".py:" }).first()));

  await act(copiedBy(page, () => page.click("#copy-link")));
  say("sent to a colleague");
} finally {
  await browser.close();
  server.stop();
}

async function textOf(row) {
  return (await row.innerText()).replace(/\s+/g, " ");
}
