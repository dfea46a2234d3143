import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { boxOf, newPage, open, param, picture, settle, startBrowser, startServer } from "./harness.js";

const OOM = "?run=tf_oom&tag=memory_profile";
const HOSTS = "?run=tf_two_hosts&tag=memory_profile";
const TPU = "?run=tf_with_tpu_modules&tag=memory_profile";
const PLOT = ".timeline-base";
const OVERLAY = ".timeline .overlay";
const PEAK_PS = 218848228000; // of tf_oom, as XProf's recorded answer has it
let server, browser, page;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  page = await newPage(browser, server);
});

after(async () => {
  await browser?.close();
  server?.stop();
});

const line = (id) => page.textContent(`[data-line="${id}"]`);
const readout = () => page.textContent(".profile .readout");
const eventName = () => page.textContent(".event-card h2");
const inView = () => page.textContent("#timeline-events");
const selectedRow = () => page.textContent(".memories [aria-selected=true]");
const press = async (key) => {
  await page.keyboard.press(key);
  await settle(page);
};
const hoverAt = async (x, y = 0.5) => {
  await page.mouse.move(...(await boxOf(page, PLOT)).at(x, y));
  await settle(page);
};

/** Turns over the plot, after the page has rested: a wheel right after a scroll would scroll on. */
async function wheel(deltaY, x = 0.5, turns = 1) {
  await hoverAt(x);
  for (let i = 0; i < turns; i += 1) await page.mouse.wheel(0, deltaY);
  await settle(page);
}

test("the summary speaks XProf's words with XProf's figures", async () => {
  await open(page, server, OOM);
  const words = await page.textContent(".profile-summary");
  for (const label of [
    "#Allocation",
    "#Deallocation",
    "Memory Capacity",
    "Lifetime Peak Heap Usage (high water mark in lifetime, may be outside profiling window)",
    "Profile-window Peak Memory Usage (stack + heap, within profiling window)",
    "Timestamp",
    "Stack Reservation",
    "Heap Allocation",
    "Free Memory",
    "Fragmentation",
  ])
    assert.ok(words.includes(label), label);
  assert.deepEqual([await line("allocations"), await line("deallocations")], ["34", "33"]);
  assert.equal(await line("capacity"), "96.00 MiB");
  assert.equal(await line("window-peak"), "74.00 MiB");
  assert.equal(await line("fragmentation"), "45.45 %");
  assert.match(await line("timestamp"), /^218\.848 ms, step 3/);
  assert.match(await page.textContent(".headline-figures"), /^74\.00 MiB peak of 96\.00 MiB \(77\.1 %\)/);
  assert.deepEqual(page.complaints, []);
});

test("hovering tells the event under the mouse, leaving goes back to the peak's", async () => {
  await open(page, server, OOM);
  const atPeak = await page.textContent(".event-card");
  assert.match(atPeak, /event 39 of 67 events, the peak/);
  const before = await picture(page, OVERLAY);
  await hoverAt(0.7);
  assert.notEqual(await picture(page, OVERLAY), before);
  assert.match(await readout(), /ms:\s+\d.*used.*free.*fragmented/);
  assert.doesNotMatch(await page.textContent(".event-card"), /the peak/);
  await page.mouse.move(5, 5);
  await settle(page);
  assert.equal(await page.textContent(".event-card"), atPeak);
});

test("a click chooses the time, a reload keeps it, Esc goes back to the peak", async () => {
  await open(page, server, OOM);
  await page.mouse.click(...(await boxOf(page, PLOT)).at(0.7, 0.5));
  await settle(page);
  const [at, name] = [await param(page, "at"), await eventName()];
  assert.ok(Number(at) > PEAK_PS);
  await page.mouse.move(5, 5);
  await page.reload();
  await page.waitForSelector(".event-card h2");
  await settle(page);
  assert.deepEqual([await param(page, "at"), await eventName()], [at, name]);
  await press("Escape");
  assert.equal(await param(page, "at"), null);
  assert.match(await page.textContent(".event-card"), /the peak/);
});

test("the arrow keys step through the events, p goes to the peak", async () => {
  await open(page, server, OOM);
  await press("ArrowRight");
  assert.match(await page.textContent(".event-card"), /event 40 of 67 events, chosen/);
  for (let i = 0; i < 3; i += 1) await page.keyboard.press("ArrowLeft");
  await settle(page);
  assert.match(await page.textContent(".event-card"), /event 37 of 67 events/);
  await press("p");
  assert.match(await page.textContent(".event-card"), /event 39 of 67 events, the peak/);
});

test("wheel and keys zoom to single events, 0 shows everything again", async () => {
  await open(page, server, OOM);
  const whole = await picture(page, PLOT);
  assert.equal(await inView(), "67 events, each drawn");
  await wheel(-240, 0.5, 8);
  const [from, to] = [Number(await param(page, "from")), Number(await param(page, "to"))];
  assert.ok(to > from && to - from < 4e12, `${from} ${to}`);
  assert.notEqual(await picture(page, PLOT), whole);
  await press("0");
  assert.deepEqual([await param(page, "from"), await param(page, "y")], [null, null]);
  assert.equal(await picture(page, PLOT), whole);
  await page.mouse.move(5, 5); // the keys zoom about the chosen time: the peak
  for (let i = 0; i < 75; i += 1) await page.keyboard.press("w");
  await settle(page);
  const wide = Number(await param(page, "to")) - Number(await param(page, "from"));
  assert.ok(wide > 0 && wide <= 1002, `${wide} ps`);
  assert.equal(await inView(), "1 event, each drawn");
  await press("Home");
  assert.equal(await picture(page, PLOT), whole);
});

test("dragging pans, Shift-drag zooms into what is marked, a double click shows everything", async () => {
  await open(page, server, `${OOM}&idle=whole`);
  const box = await boxOf(page, PLOT);
  await page.keyboard.down("Shift");
  await page.mouse.move(...box.at(0.25, 0.5));
  await page.mouse.down();
  await page.mouse.move(...box.at(0.75, 0.5), { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await settle(page);
  const marked = [Number(await param(page, "from")), Number(await param(page, "to"))];
  assert.ok(Math.abs(marked[0] - 10.1e12) < 0.2e12 && Math.abs(marked[1] - 30.3e12) < 0.2e12, String(marked));
  await page.mouse.move(...box.at(0.5, 0.5));
  await page.mouse.down();
  await page.mouse.move(...box.at(0.6, 0.5), { steps: 4 });
  await page.mouse.up();
  await settle(page);
  assert.ok(Number(await param(page, "from")) < marked[0]);
  await page.mouse.dblclick(...box.at(0.5, 0.5));
  await settle(page);
  assert.equal(await param(page, "from"), null);
});

/** The first place along the plot whose readout is like this, as a share of its width. */
async function findReadout(pattern) {
  for (let x = 0.02; x < 1; x += 0.02) {
    await hoverAt(x);
    if (pattern.test(await readout())) return x;
  }
  throw new Error(`nowhere ${pattern}`);
}

const overlayPixel = (x, y) =>
  page.evaluate(
    ([plot, over, shareX, shareY]) => {
      const [area, canvas] = [plot, over].map((one) => document.querySelector(one));
      const [box, whole] = [area, canvas].map((one) => one.getBoundingClientRect());
      const at = [box.x + shareX * box.width - whole.x, box.y + shareY * box.height - whole.y];
      const ratio = canvas.width / whole.width;
      return [...canvas.getContext("2d").getImageData(at[0] * ratio, at[1] * ratio, 1, 1).data];
    },
    [PLOT, OVERLAY, x, y],
  );

test("idle time that is most of the axis is left out, with a sign of how long it is, and comes back", async () => {
  await open(page, server, OOM);
  assert.equal(await page.textContent("#switch-idle"), "Show idle time");
  const inBreak = await findReadout(/idle for 10\.0 s/);
  const [, time] = /([\d\u202f]+)\.\d+ ms/.exec(await readout());
  assert.ok(Number(time.replaceAll("\u202f", "")) > 278, "hover tells true times");
  await page.mouse.move(5, 5);
  await settle(page);
  assert.ok((await overlayPixel(inBreak, 0.4))[3] > 100, "a break covers the plot");
  const left = await picture(page, PLOT);
  await press("x");
  assert.deepEqual([await param(page, "idle"), await param(page, "from")], ["whole", null]);
  assert.equal(await page.textContent("#switch-idle"), "Leave out idle time");
  assert.notEqual(await picture(page, PLOT), left);
  await hoverAt(0.5);
  assert.match(await readout(), /^20\u202f[12]\d\d\./, "the middle of 40 s");
  assert.doesNotMatch(await readout(), /idle/);
  await page.click("#switch-idle");
  await page.mouse.move(5, 5);
  await settle(page);
  assert.equal(await param(page, "idle"), null);
  assert.equal(await picture(page, PLOT), left);
});

test("a window of time is the same with and without idle time, and after a reload", async () => {
  await open(page, server, OOM);
  await wheel(-240, 0.3, 3);
  const edges = async () => [Number(await param(page, "from")), Number(await param(page, "to"))];
  const seen = await edges();
  await press("x");
  const there = await edges();
  await press("x");
  const back = await edges();
  for (const i of [0, 1]) assert.ok(Math.abs(seen[i] - there[i]) <= 2 && Math.abs(seen[i] - back[i]) <= 4, `${back}`);
  assert.ok(seen[1] - seen[0] > 1e9);
  const shown = await picture(page, PLOT);
  await page.reload();
  await page.waitForSelector(".event-card h2");
  await settle(page);
  assert.equal(await picture(page, PLOT), shown);
});

test("bytes are zoomed on their own, and the height switches between use and capacity", async () => {
  await open(page, server, OOM);
  const whole = await picture(page, PLOT);
  await page.click("#switch-height");
  await settle(page);
  assert.notEqual(await picture(page, PLOT), whole);
  assert.match(await param(page, "y"), /^0,\d+$/);
  await press("c");
  assert.equal(await param(page, "y"), null);
  await press("W");
  assert.equal(await param(page, "from"), null);
  assert.match(await param(page, "y"), /^0,\d+$/);
  await page.reload();
  await page.waitForSelector(".event-card h2");
  await settle(page);
  assert.notEqual(await picture(page, PLOT), whole, "the height is in the address");
});

test("memories are chosen in the table by mouse and by keys", async () => {
  await open(page, server, HOSTS);
  assert.match(await selectedRow(), /worker1/, "the highest is first, and chosen");
  assert.match(await page.textContent(".headline-figures"), /^530\.75 KiB peak/);
  await page.click(".memories tr[data-row]:nth-child(3) .col-host");
  await settle(page);
  assert.equal(await param(page, "host"), "worker0");
  assert.match(await selectedRow(), /worker0/);
  assert.match(await page.textContent(".headline-figures"), /^393\.50 KiB peak/);
  await page.locator(".memories tr[data-row]").first().focus();
  await press("Enter");
  assert.equal(await param(page, "host"), "worker1");
  await press("j");
  assert.equal(await param(page, "host"), "worker0");
  await page.goBack();
  await settle(page);
  assert.equal(await param(page, "host"), "worker1");
});

test("another memory is drawn over the chosen one, in the address and after a reload", async () => {
  await open(page, server, HOSTS);
  const alone = await picture(page, PLOT);
  await page.locator(".memories tr[data-row]").last().locator("input").check();
  await settle(page);
  assert.match(await param(page, "overlay"), /^worker0\//);
  const both = await picture(page, PLOT);
  assert.notEqual(both, alone);
  assert.match(await page.textContent(".profile .curve-key"), /\(worker0\)/);
  await page.reload();
  await page.waitForSelector(".event-card h2");
  await settle(page);
  assert.equal(await picture(page, PLOT), both);
  await page.locator(".memories tr[data-row]").last().focus();
  await press("o");
  assert.equal(await param(page, "overlay"), null);
  assert.equal(await picture(page, PLOT), alone);
});

test("the Memory ID picker and the Hosts picker change what is shown", async () => {
  await open(page, server, "?run=tf_two_allocators&tag=memory_profile");
  const ids = await page.locator("#pick-memory-id option").allTextContents();
  assert.equal(ids.length, 2);
  const other = ids.find((id) => id !== ids[0]) ?? "";
  const shown = await page.inputValue("#pick-memory-id");
  await page.selectOption("#pick-memory-id", shown === other ? ids[0] : other);
  await settle(page);
  assert.notEqual(await param(page, "memory_id"), null);
  assert.notEqual(await param(page, "memory_id"), shown);
  await open(page, server, HOSTS);
  assert.equal((await page.locator("#pick-hosts option").allTextContents())[0], "worker1");
  await page.selectOption("#pick-hosts", "worker0");
  await settle(page);
  assert.match(await selectedRow(), /worker0/);
});

test("a module run of a TPU zooms on click, and again shows everything", async () => {
  await open(page, server, TPU);
  await settle(page);
  const lanes = await boxOf(page, ".timeline-lanes");
  const onFirstDevice = [lanes.x + 3, lanes.y + 1.5 * 17];
  await page.mouse.move(...onFirstDevice);
  await settle(page);
  assert.match(await readout(), / on .*ms to .*ms/);
  await page.mouse.click(...onFirstDevice);
  await settle(page);
  const zoomed = [await param(page, "from"), await param(page, "to")];
  assert.ok(Number(zoomed[1]) > Number(zoomed[0]));
  await page.mouse.click(lanes.x + lanes.width / 2, onFirstDevice[1]);
  await settle(page);
  assert.equal(await param(page, "from"), null);
  await press("]");
  assert.deepEqual([await param(page, "from"), await param(page, "to")], zoomed);
});

const finding = (kind) => page.locator(`[data-finding=${kind}]`);

test("findings stand first and each leads to its panel, its window and its time", async () => {
  await open(page, server, OOM);
  assert.equal(
    await finding("failed").textContent(),
    "4 requests above 16.00 MiB failed, the first at 278 ms (step 4)",
  );
  const [list, plot] = [await boxOf(page, ".finding-list"), await boxOf(page, PLOT)];
  assert.ok(list.y + list.height < plot.y);
  await finding("failed").click();
  await settle(page);
  assert.equal(await param(page, "panel"), "fragmentation");
  const numbers = await Promise.all(["at", "from", "to"].map((key) => param(page, key)));
  const [at, from, to] = numbers.map(Number);
  assert.ok(at > 277e9 && at < 279e9 && from < at && to > at + 10e12, `${from} ${at} ${to}`);
  await open(page, server, "?run=tf_leak&tag=memory_profile");
  assert.equal(await finding("leak").textContent(), "Relu grew by 1.00 MiB in each of 11 steps, and 1 more op grows");
  await press("f");
  assert.equal(await param(page, "panel"), "leaks");
  assert.equal(await page.evaluate(() => document.activeElement?.getAttribute("data-finding")), "leak");
  await press("f");
  assert.equal(await param(page, "panel"), null, "who holds the peak is in the breakdown, the first tab");
  assert.match(await page.textContent(".moment"), /^At the peak/);
  assert.deepEqual(page.complaints, []);
});

test("without memory events the page says what was looked for and where to go on", async () => {
  await open(page, server, "?run=tf_no_memory_events&tag=memory_profile");
  const text = await page.textContent(".message");
  assert.match(text, /no memory profile to display/);
  assert.ok((await page.locator(".message p").count()) >= 2, text);
  await page.click(".message [data-tool=memory_viewer]");
  await settle(page);
  assert.equal(await param(page, "tag"), "memory_viewer");
});

test("each tool says how the other differs and leads to it", async () => {
  await open(page, server, "?run=v5e_matmul&tag=memory_viewer");
  assert.match(await page.textContent(".other-tool"), /in program order.*for all modules, in time/);
  await page.click("#facts-fold");
  await page.click(".other-tool [data-tool=memory_profile]");
  await settle(page);
  assert.equal(await param(page, "tag"), "memory_profile");
  assert.equal(await param(page, "run"), "v5e_matmul");
  await open(page, server, OOM);
  await page.click(".other-tool [data-tool=memory_viewer]");
  await settle(page);
  assert.equal(await param(page, "tag"), "memory_viewer");
});

test("a host or a memory that is not there is named, with those that are", async () => {
  await open(page, server, `${HOSTS}&host=worker9`);
  assert.match(await page.textContent(".message"), /no host "worker9".*worker1.*worker0/s);
  await page.click(".message button >> text=worker1");
  await settle(page);
  assert.match(await selectedRow(), /worker1/);
  assert.deepEqual(page.complaints, []);
});

test("facts and notes are a click away, and the choice is remembered", async () => {
  const fresh = await newPage(browser, server);
  await open(fresh, server, "?run=tf_leak&tag=memory_profile");
  assert.ok(!(await fresh.isVisible(".profile-summary")));
  await fresh.click("#facts-fold");
  assert.ok(await fresh.isVisible(".profile-summary"));
  assert.ok(await fresh.isVisible(".memories"), "a memory that is alone has its row there");
  await open(fresh, server, OOM);
  assert.ok(await fresh.isVisible(".profile-summary"));
  await fresh.click("#facts-fold");
  assert.ok(!(await fresh.isVisible(".profile-summary")));
  await open(fresh, server, HOSTS);
  assert.ok(await fresh.isVisible(".memories"), "several are there to choose from");
  await fresh.close();
});

test("on a wide window the breakdown stands beside the timeline and follows it", async () => {
  const wide = await newPage(browser, server, { viewport: { width: 1440, height: 900 } });
  await open(wide, server, OOM);
  const [plot, beside] = [await boxOf(wide, PLOT), await boxOf(wide, ".beside")];
  assert.ok(beside.x > plot.x + plot.width && beside.y < plot.y);
  assert.equal(await wide.locator("#tab-breakdown").count(), 0);
  assert.equal(await wide.getAttribute("#tab-leaks", "aria-selected"), "true");
  assert.match(await wide.textContent(".beside .moment"), /^At the peak/);
  await wide.mouse.click(...plot.at(0.3, 0.5));
  await settle(wide);
  assert.match(await wide.textContent(".beside .moment"), /^At the chosen time/);
  await wide.click("#to-peak");
  await settle(wide);
  assert.match(await wide.textContent(".beside .moment"), /^At the peak/);
  await wide.setViewportSize({ width: 1300, height: 900 });
  await settle(wide);
  assert.ok(!(await wide.isVisible(".beside")));
  assert.equal(await wide.getAttribute("#tab-breakdown", "aria-selected"), "true");
  assert.deepEqual(wide.complaints, []);
  await wide.close();
});

const SIZES = [
  [1440, 900],
  [1280, 800],
  [1024, 768],
  [640, 400],
  [390, 844],
];
const PARTS =
  ".headline-figures, .figures-tools, .finding, .timeline, .timeline-foot button, .tab, .panel-body, .beside";

test("nothing is clipped, on any window", async () => {
  const other = await newPage(browser, server);
  for (const [width, height] of SIZES) {
    await other.setViewportSize({ width, height });
    await open(other, server, `${HOSTS}&panel=leaks`);
    const beyond = await other.$$eval(
      PARTS,
      (nodes, most) => {
        const isBeyond = (one) => one.getBoundingClientRect().right > most + 0.5;
        return nodes.filter(isBeyond).map((one) => one.className);
      },
      width,
    );
    assert.deepEqual(beyond, [], `${width}`);
    const whole = await other.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(whole <= width, `${whole} of ${width}`);
  }
  await other.close();
});
