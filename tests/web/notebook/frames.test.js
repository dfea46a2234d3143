// hbmview.show in JupyterLab and Notebook 7, in a real browser: the page is painted inside the cell's frame, whichever
// way leads there, and where none does the cell says what to do.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { startBrowser } from "../browser/harness.js";
import { startJupyter } from "./jupyter.js";

const BARS = "canvas[data-order=size]";
const LIMIT_MS = 120_000;
const LOOK_MS = 100;
let browser;

before(async () => {
  browser = await startBrowser(["--host-resolver-rules=MAP *.example 127.0.0.1"]);
});

after(() => browser?.close());

const isPainted = (selector) => {
  if (performance.getEntriesByName("hbmview-painted").length === 0) return false;
  const canvas = document.querySelector(selector);
  return Boolean(canvas) && canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean);
};

/** Opens the notebook and runs its cell, as a reader does: a click into it, Shift+Enter, once its kernel is there. */
async function runCell(jupyter, colorScheme = "light") {
  const page = await opened({ viewport: { width: 1440, height: 900 }, colorScheme });
  await page.addLocatorHandler(page.locator(".jp-Dialog .jp-mod-accept"), (button) => button.click());
  await page.goto(jupyter.opened);
  await page.waitForSelector(".jp-Notebook-ExecutionIndicator[data-status=idle]");
  const cell = page.locator(".jp-CodeCell").first();
  const end = Date.now() + LIMIT_MS;
  while ((await cell.locator(".jp-OutputArea-child").count()) === 0) {
    assert.ok(Date.now() < end, `nothing comes of the cell: ${await cell.textContent()}`);
    await runUnlessItRuns(page, cell);
  }
  return page;
}

/** The prompt of a cell that runs is "[*]:", then "[1]:". On a busy machine a first request can come to nothing. */
async function runUnlessItRuns(page, cell) {
  if (/[\d*]/.test(await cell.locator(".jp-InputPrompt").textContent())) return page.waitForTimeout(LOOK_MS);
  await cell.locator(".cm-content").click();
  return page.keyboard.press("Shift+Enter");
}

async function opened(settings) {
  const page = await (await browser.newContext(settings)).newPage();
  page.setDefaultTimeout(LIMIT_MS);
  return page;
}

/** The page in the frame of the cell, once its charts are there. */
async function framed(page) {
  const node = await page.waitForSelector(".jp-OutputArea iframe[src]");
  assert.equal((await node.boundingBox()).height, 642); // and a pixel of border on either side
  const frame = await node.contentFrame();
  await frame.waitForFunction(isPainted, BARS);
  return frame;
}

/** A notebook's server that ends with the test, whatever becomes of it: with one left, the tests would never end. */
async function jupyterOf(test, ...what) {
  const jupyter = await startJupyter(...what);
  test.after(async () => {
    try {
      await closePages(new URL(jupyter.url).port);
    } finally {
      await jupyter.stop();
    }
  });
  return jupyter;
}

async function closePages(name) {
  for (const context of browser.contexts()) {
    if (process.env.SHOTS) await context.pages()[0].screenshot({ path: `${process.env.SHOTS}/${name}.png` });
    await context.close();
  }
}

for (const kind of ["jupyterlab", "notebook"]) {
  test(`${kind}: through jupyter-server-proxy, below the hub's path`, async (t) => {
    const page = await runCell(await jupyterOf(t, kind));
    const frame = await framed(page);
    assert.match(frame.url(), /^http:\/\/localhost:\d+\/user\/me\/proxy\/\d+\/\?run=v5e_gpt_4layer/);
    assert.equal(await frame.textContent("body").then((text) => text.includes("jit_train_step")), true);
    const link = await page.getAttribute(".jp-OutputArea a", "href");
    assert.match(link, /^\/user\/me\/proxy\/\d+\/\?run=v5e_gpt_4layer$/);
  });
}

test("jupyterlab without the proxy: directly, on the reader's own machine", async (t) => {
  const jupyter = await jupyterOf(t, "jupyterlab", { hasProxy: false });
  const frame = await framed(await runCell(jupyter, "dark"));
  assert.match(frame.url(), /^http:\/\/localhost:\d+\/\?run=v5e_gpt_4layer/);
  assert.notEqual(new URL(frame.url()).port, new URL(jupyter.url).port);
});

test("jupyterlab without the proxy, on another machine: what to do", async (t) => {
  const page = await runCell(await jupyterOf(t, "jupyterlab", { hasProxy: false, name: "lab.example" }));
  const said = await page.waitForSelector(".jp-OutputArea [role=status]:not(:empty)");
  assert.match(await said.textContent(), /install jupyter-server-proxy .* ssh -L (\d+):localhost:\1/);
  assert.equal(await page.locator(".jp-OutputArea iframe").isVisible(), false);
});

test("the launcher's entry: by a socket file, also inside a frame of the same address", async (t) => {
  const jupyter = await jupyterOf(t, "jupyterlab");
  const page = await opened();
  const reply = await page.goto(`${jupyter.url}hbmview/?run=v5e_gpt_4layer`);
  assert.match(reply.headers()["content-security-policy"], /frame-ancestors 'self'/);
  await page.waitForFunction(isPainted, BARS);
  assert.ok(page.url().startsWith(`${jupyter.url}hbmview/?run=v5e_gpt_4layer`), page.url());
});
