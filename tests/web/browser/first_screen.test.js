// The first screen of the Memory Viewer: what it answers without scrolling, what is a key away, and that nothing lies
// over anything at any size.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { boxOf, newPage, open, param, settle, startBrowser, startServer } from "./harness.js";

const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer&capacity=15.75GiB";
let server, browser;

before(async () => {
  [server, browser] = await Promise.all([startServer(), startBrowser()]);
});

after(async () => {
  await browser?.close();
  server?.stop();
});

async function opened(query = OOM, size = { width: 1280, height: 800 }) {
  const page = await newPage(browser, server, { viewport: size });
  await open(page, server, query);
  return page;
}

const text = (page, selector) => page.textContent(selector);
const heightOf = async (page, selector) => (await boxOf(page, selector)).height;

test("at 1280x800 verdict, composition, curve, bars and tabs are seen without scrolling", async () => {
  const page = await opened();
  const dock = await boxOf(page, "#dock");
  assert.ok(dock.height < 40, `the dock is ${dock.height} high`);
  for (const one of [".verdict", ".composition-line", ".curve", "canvas[data-order=padding]", ".tabs"]) {
    const { y, height } = await boxOf(page, one);
    assert.ok(y >= 42 && y + height <= dock.y, `${one} ends at ${y + height}, the dock begins at ${dock.y}`);
  }
  assert.equal(await text(page, ".verdict"), "OVERFLOW by 37.15 GiB");
  assert.deepEqual(page.complaints, []);
});

test("no figure is said three times", async () => {
  const page = await opened();
  const words = await page.innerText("#main");
  for (const [figure] of words.matchAll(/\d+\.\d\d GiB/g)) {
    const times = words.split(figure).length - 1;
    assert.ok(times < 3, `${figure} ${times} times`);
  }
});

test("facts are folded, open by mouse and key, and what was chosen is remembered", async () => {
  const page = await opened();
  assert.ok(await page.isHidden(".overview"));
  await page.click("#facts-fold");
  assert.ok(await page.isVisible(".overview"));
  assert.match(await page.innerText(".facts-body"), /Thread-local allocations, 186\.50 KiB/, "a note on very little");
  await page.reload();
  await page.waitForSelector(".overview");
  await settle(page);
  await page.focus("#facts-fold");
  await page.keyboard.press("Enter");
  assert.ok(await page.isHidden(".overview"));
  await page.reload();
  await page.waitForSelector("#facts-fold");
  await settle(page);
  assert.ok(await page.isHidden(".overview"));
});

test("notes on what matters are counted, those on less than a thousandth are among the facts", async () => {
  const notes = ["XProf shows 30.00 GiB (32212254720 bytes).", "This one is about 1.00 KiB (1024 bytes)."];
  const page = await newPage(browser, server);
  await page.route("**/api/v1/memory_view/overview?*", async (route) => {
    const reply = await (await route.fetch()).json();
    await route.fulfill({ json: { ...reply, notes } });
  });
  await open(page, server, OOM);
  assert.match(await text(page, "#notes-fold"), /^notes \(1\)/);
  await page.click("#notes-fold");
  assert.equal(await page.innerText(".notes-body"), notes[0]);
  await page.click("#facts-fold");
  assert.match(await page.innerText(".facts-body"), /about 1\.00 KiB/);
});

test("a part of the composition shows its buffers in the charts, by mouse and by key; again, all of them", async () => {
  const page = await opened(`${OOM}&panel=table`);
  const all = await text(page, "#table-count");
  const donated = await boxOf(page, ".segment[data-part=donated]");
  await page.mouse.click(...donated.at(0.5, 0.5));
  await settle(page);
  assert.equal(await param(page, "filter"), "type:donated");
  const types = await page.locator("tr[data-row] .col-category").allTextContents();
  assert.deepEqual([...new Set(types)], ["Donated"]);
  assert.match(await text(page, "#table-count"), /1\.81 GiB$/);
  assert.equal(await page.getAttribute("button[data-part=donated]", "aria-pressed"), "true");
  await page.focus("button[data-part=donated]");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await text(page, "#table-count"), all);
  assert.equal(await param(page, "filter"), null);
});

test("tabs: by mouse, by arrow keys, in the address", async () => {
  const page = await opened();
  const shown = () => text(page, ".tab[aria-selected=true]");
  assert.equal(await shown(), "Timeline");
  assert.equal(await page.locator(".blocks").count(), 1);
  await page.click("#tab-table");
  await settle(page);
  assert.equal(await param(page, "panel"), "table");
  assert.ok(await page.isVisible(".row-grid"));
  await page.reload();
  await page.waitForSelector(".row-grid");
  assert.equal(await shown(), "Table");
  await page.focus("#tab-table");
  await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.equal(await shown(), "Timeline");
  assert.equal(await param(page, "panel"), null);
  assert.equal(await page.evaluate(() => document.activeElement.id), "tab-timeline");
});

test("the dock names what is under the mouse in one line and moves nothing", async () => {
  const page = await opened();
  const before = await boxOf(page, "#main");
  const name = await text(page, ".card-head h2");
  await page.mouse.move(...(await boxOf(page, "canvas[data-order=size]")).at(0.5, 0.5));
  await settle(page);
  assert.notEqual(await text(page, ".card-head h2"), name);
  assert.match(await page.innerText(".card-sub"), /^3\.00 GiB, .*train\.py:\d+;/);
  assert.deepEqual(await boxOf(page, "#main").then(({ height }) => height), before.height);
});

test("pinning opens the dock and keeps the clicked row in sight; Esc, or folding it, lets go", async () => {
  const page = await opened(OOM, { width: 1280, height: 560 });
  const row = "canvas[data-order=padding]";
  await page.locator(row).scrollIntoViewIfNeeded();
  await page.mouse.click(...(await boxOf(page, row)).at(0.5, 0.5));
  await settle(page);
  assert.ok(await page.isVisible(".card-facts"));
  const [bar, dock] = [await boxOf(page, row), await boxOf(page, "#dock")];
  assert.ok(bar.y + bar.height <= dock.y, `the row ends at ${bar.y + bar.height}, the dock begins at ${dock.y}`);
  await page.keyboard.press("Escape");
  await settle(page);
  assert.ok(await page.isHidden(".card-facts"));
  await page.mouse.click(...(await boxOf(page, row)).at(0.5, 0.5));
  await settle(page);
  await page.click("#dock-fold");
  await settle(page);
  assert.ok(await page.isHidden(".card-facts"));
  assert.equal(await param(page, "buffer"), null);
});

test("the end of the page can be scrolled above the open dock", async () => {
  const page = await opened();
  await page.keyboard.press("i");
  await page.evaluate(() => document.querySelector("#main").scrollTo(0, 1e6));
  await settle(page);
  const [last, dock] = [await boxOf(page, ".blocks"), await boxOf(page, "#dock")];
  assert.ok(last.y + last.height <= dock.y, `${last.y + last.height} and ${dock.y}`);
});

test("the dock's size is dragged, set by keys, and remembered", async () => {
  const page = await opened();
  await page.keyboard.press("i");
  await settle(page);
  const before = await heightOf(page, ".dock-body");
  const dock = await boxOf(page, "#dock");
  await page.mouse.move(dock.x + 300, dock.y);
  await page.mouse.down();
  await page.mouse.move(dock.x + 300, dock.y - 60, { steps: 3 });
  await page.mouse.up();
  await settle(page);
  const dragged = await heightOf(page, ".dock-body");
  assert.ok(Math.abs(dragged - before - 60) < 3, `${before}, then ${dragged}`);
  await page.focus(".dock-grip");
  await page.keyboard.press("ArrowDown");
  await settle(page);
  assert.equal(await heightOf(page, ".dock-body"), dragged - 24);
  await page.reload();
  await page.waitForSelector(".card-facts");
  await settle(page);
  assert.equal(await heightOf(page, ".dock-body"), dragged - 24, "and that it is open");
});

test("from 1400 pixels on the dock stands at the right, below it does not", async () => {
  for (const [width, isRight] of [
    [1400, true],
    [1399, false],
  ]) {
    const page = await opened(OOM, { width, height: 900 });
    const [main, dock] = [await boxOf(page, "#main"), await boxOf(page, "#dock")];
    assert.equal(dock.x >= main.x + main.width, isRight, `${width} wide`);
    assert.equal(await page.isVisible(".card-facts"), isRight);
    await page.context().close();
  }
});

/** In the page: which parts of one line, or of the page below each other, lie over each other. */
function overlaps() {
  const boxesOf = (nodes) => nodes.map((node) => [node.className || node.id, node.getBoundingClientRect()]);
  const found = [];
  const look = (parent) => {
    const boxes = boxesOf([...parent.children].filter((one) => one.getClientRects().length > 0));
    boxes.forEach(([name, a], i) => {
      for (const [other, b] of boxes.slice(i + 1))
        if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1)
          if (Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) found.push(`${name} and ${other}`);
    });
  };
  for (const one of [".workspace", ".figures-line", ".headline", ".figures-tools", ".composition-line", ".charts"])
    look(document.querySelector(one));
  for (const one of document.querySelectorAll(".chart-head, .bars, .side-section, #bar")) look(one);
  const cut = [...document.querySelectorAll("#main button, #main input, .verdict, .part, .tab, #bar button")]
    .filter((one) => one.getClientRects().length > 0)
    .filter((one) => !one.closest(".table-scroll")) // on a telephone it scrolls in its own frame
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 0.5)
    .map((one) => `cut: ${one.className || one.id}`);
  return [...found, ...cut];
}

test("the table needs no sideways scrolling beside the dock, nor at 1024", async () => {
  for (const width of [1024, 1280, 1440]) {
    const page = await opened(`${OOM}&panel=table`, { width, height: 800 });
    const spare = await page.$eval(".table-scroll", (box) => box.scrollWidth - box.clientWidth);
    assert.equal(spare, 0, `${width} wide`);
    await page.context().close();
  }
});

for (const [width, height, what] of [
  [390, 844, "a telephone"],
  [640, 400, "1280x800 at 200 %"],
  [1024, 768, "1024"],
  [1280, 800, "1280"],
  [1440, 900, "1440"],
  [2560, 1440, "2560"],
]) {
  test(`nothing is clipped and no row lies over another: ${what}`, async () => {
    const page = await opened(OOM, { width, height });
    await page.click("#facts-fold");
    for (const panel of ["timeline", "table"]) {
      await page.click(`#tab-${panel}`);
      await settle(page);
      assert.deepEqual(await page.evaluate(overlaps), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "scrolls sideways");
    }
  });
}
