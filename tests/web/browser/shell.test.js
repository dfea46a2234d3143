import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { newPage, open, param, settle, startBrowser, startServer, copiedBy } from "./harness.js";

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

const openModule = () => page.textContent(".modules-section .entry[aria-current] .entry-name");
const moduleNames = () => page.locator(".modules-section .entry-name").allTextContents();

/** The modules of a session once the server knows all their figures. */
async function knownModules(session) {
  for (;;) {
    const reply = await (await fetch(new URL(`api/v1/modules?session=${session}`, server.url))).json();
    if (reply.complete) return reply;
  }
}

test("without an address the newest session opens, and its largest module", async () => {
  await open(page, server, "");
  const run = await param(page, "run");
  await page.click("#pick-sessions");
  assert.equal(run, await page.locator("[role=option]").first().getAttribute("data-run"));
  await page.keyboard.press("Escape");
  assert.ok(await param(page, "module_name"));
});

test("sessions: filtered as one types, walked by keys, with date, size, programs and peak", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "?run=v5e_matmul");
  const button = page.locator("#pick-sessions");
  assert.match(await button.textContent(), /^v5e_matmul/);
  await button.focus();
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.evaluate(() => document.activeElement.id), "session-filter");
  await page.keyboard.type("12layer_oom");
  assert.equal(await page.locator("[role=option]").count(), 1);
  const row = page.locator("[role=option]");
  await row.locator("text=1 program").waitFor();
  await row.locator("text=52.90 GiB").waitFor();
  assert.match(await row.textContent(), /\d{4}.*(KiB|MiB), 1 program/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator(".session-popup:visible").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.id), "pick-sessions", "the focus is not lost");
  await page.keyboard.press("Enter");
  await page.keyboard.type("tf_tiny");
  await row.locator("text=allocator events").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => new URLSearchParams(location.search).get("run") === "tf_tiny");
  await page.click("#pick-sessions");
  await page.keyboard.type("no such session");
  assert.match(await page.textContent(".session-popup"), /No session matches/);
  await page.mouse.click(700, 500);
  assert.equal(await page.locator(".session-popup:visible").count(), 0);
  assert.deepEqual(page.complaints, []);
});

const toolNow = (page) => page.locator("#pick-tools").inputValue();
const withoutData = (page) => page.locator("#pick-tools option.without").allTextContents();

test("tools without data are greyed and say why, and can still be asked for more", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "?run=tf_tiny&tag=memory_profile");
  await page.waitForSelector("#pick-tools option.without", { state: "attached" });
  assert.deepEqual(await withoutData(page), [
    "Memory Viewer: no compiled program",
    "Device Memory: no device memory profile",
    "Compare: no compiled program",
  ]);
  const colorOf = (selector) =>
    page.evaluate((one) => getComputedStyle(document.querySelector(one)).color, `#pick-tools ${selector}`);
  const [plain, grey] = [await colorOf("[value=memory_profile]"), await colorOf(".without")];
  assert.notEqual(grey, plain);
  await page.locator("#pick-tools").focus();
  await page.keyboard.press("ArrowUp");
  await page.waitForSelector(".message >> text=This session holds no HLO module");
  assert.equal(await param(page, "tag"), "memory_viewer");
  await page.close();
});

test("a session is picked: the open tool stays where it has data, else one that has some opens", async () => {
  const page = await newPage(browser, server);
  const pick = async (name) => {
    await page.click("#pick-sessions");
    await page.keyboard.type(name);
    await page.keyboard.press("Enter");
    await page.waitForFunction((one) => new URLSearchParams(location.search).get("run") === one, name);
    await page.waitForSelector(".headline-figures, .message");
    await settle(page);
  };
  await open(page, server, "?run=v5e_matmul&tag=memory_viewer");
  await pick("tf_tiny");
  assert.equal(await toolNow(page), "memory_profile");
  await pick("tf_two_hosts");
  assert.equal(await toolNow(page), "memory_profile");
  await pick("v5e_padded");
  assert.equal(await toolNow(page), "memory_viewer");
  await page.goBack();
  await page.waitForFunction(() => document.querySelector("#pick-tools").value === "memory_profile");
  await open(page, server, "?run=tf_tiny");
  await page.waitForFunction(() => document.querySelector("#pick-tools").value === "memory_profile");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

const told = (capacity_bytes) => ({
  host: "tpu-vm-0",
  plane: "/device:TPU:0",
  count: 4,
  type: "TPU v5 lite",
  name: "TPU v5e",
  capacity_bytes,
  capacity_from: "device_type",
});

test("the capacity is the profile's where it tells one; what was asked for comes first", async () => {
  const page = await newPage(browser, server);
  await page.route("**/api/v1/session?*", async (route) => {
    const reply = await (await route.fetch()).json();
    const isToldOf = reply.session === "v5e_gpt_12layer_oom";
    return route.fulfill({ json: { ...reply, devices: isToldOf ? [told(16911433728)] : [] } });
  });
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer");
  await page.waitForSelector(".verdict.overflow");
  assert.equal(await page.inputValue("#capacity"), "15.75GiB");
  assert.equal(await page.textContent(".verdict"), "OVERFLOW by 37.15 GiB");
  assert.equal(await page.textContent(".capacity-from"), "as the profile says");
  assert.match(await page.getAttribute(".capacity-from", "title"), /names a TPU v5e in \/device:TPU:0/);
  await page.click("#pick-sessions");
  await page.keyboard.type("v5e_matmul");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => new URLSearchParams(location.search).get("run") === "v5e_matmul");
  await page.waitForFunction(() => document.querySelector("#capacity")?.value === "");
  await settle(page);
  assert.equal(await page.inputValue("#capacity"), "");
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer&capacity=64GiB");
  assert.equal(await page.inputValue("#capacity"), "64GiB");
  assert.equal(await page.textContent(".capacity-from"), "");
  assert.deepEqual(page.complaints, []);
  await page.close();
});

test("XProf's own address opens the same view", async () => {
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer&host=tpu-vm-0&moduleName=jit_train_step");
  assert.equal(await param(page, "module_name"), "jit_train_step(1)");
  assert.match(await page.textContent(".headline-figures"), /52\.\d\d GiB peak/);
  await open(page, server, "?run=v5e_gpt_12layer_oom&tool=memory_viewer&module_name=jit_train_step(1)");
  assert.match(await page.textContent(".headline-figures"), /52\.\d\d GiB peak/);
});

test("modules: largest first, filtered, walked with j and k", async () => {
  await knownModules("h100_programs"); // without, the page opens after a while the largest of those that are known
  await open(page, server, "?run=h100_programs");
  const names = await moduleNames();
  assert.ok(names.length > 3);
  assert.equal(await openModule(), names[0]);
  await page.keyboard.press("j");
  await settle(page);
  assert.equal(await openModule(), names[1]);
  await page.keyboard.press("k");
  await settle(page);
  assert.equal(await openModule(), names[0]);
  await page.fill("#module-filter", "mlp");
  const left = await moduleNames();
  assert.ok(left.length > 0 && left.length < names.length && left.every((name) => name.includes("mlp")));
  await page.fill("#module-filter", "no such module");
  assert.match(await page.textContent(".modules-section"), /No module matches/);
});

test("a poll makes only the rows anew of which it tells something new", async () => {
  const page = await newPage(browser, server);
  const reply = await knownModules("h100_programs");
  const last = reply.modules.at(-1);
  const first = { ...reply, complete: false };
  first.modules = [...reply.modules.slice(0, -1), { ...last, state: "pending", memory_spaces: [] }];
  let release;
  const held = new Promise((resolve) => {
    release = resolve;
  });
  await page.route("**/api/v1/modules?*", async (route) => {
    const { searchParams } = new URL(route.request().url());
    if (!searchParams.has("since")) return route.fulfill({ json: first });
    await held;
    return route.fulfill({ json: { ...reply, since: first.version, modules: [last] } });
  });
  await page.goto(new URL(`?run=h100_programs&module_name=${reply.modules[0].name}`, server.url).href);
  await page.waitForSelector(".modules-section .entry-figures > .figure.unit");
  await page.evaluate(() => document.querySelectorAll(".modules-section .entry").forEach((one) => (one.isOld = true)));
  await page.locator(".modules-section .entry").nth(1).focus();
  release();
  await page.waitForFunction(() => !document.querySelector(".modules-section .entry-figures > .figure.unit"));
  const anew = await page.evaluate(() =>
    [...document.querySelectorAll(".modules-section .entry")].filter((one) => !one.isOld).map((one) => one.textContent),
  );
  assert.equal(anew.length, 1);
  assert.match(anew[0], new RegExp(last.module_name));
  assert.ok(await page.evaluate(() => document.activeElement?.isOld));
});

test("back and forward go through modules", async () => {
  await open(page, server, "?run=h100_programs");
  const first = await param(page, "module_name");
  await page.locator(".modules-section .entry").nth(1).click();
  await settle(page);
  const second = await param(page, "module_name");
  assert.notEqual(second, first);
  await page.goBack();
  await settle(page);
  assert.equal(await param(page, "module_name"), first);
  assert.equal(await openModule(), first);
});

test("memory types: only those with data, each with its size", async () => {
  await open(page, server, "?run=v5e_gpt_12layer_oom");
  const rows = await page.locator("[aria-label='Memory Types'] .entry").allTextContents();
  assert.ok(rows.length >= 2);
  assert.ok(
    rows.every((row) => /\d+(\.\d+)? (B|KiB|MiB|GiB)$/.test(row.replace(/\u202f/g, ""))),
    rows.join(),
  );
  await page.click("[aria-label='Memory Types'] .entry >> text=VMEM");
  await page.waitForFunction(() => document.querySelector(".headline-space")?.textContent.includes("VMEM"));
  await settle(page);
  assert.equal(await param(page, "memory_space"), "1");
  await page.reload();
  await page.waitForFunction(() => document.querySelector(".headline-space")?.textContent.includes("VMEM"));
});

test("units: every figure changes, the choice is in the address", async () => {
  await open(page, server, "?run=v5e_gpt_12layer_oom");
  await page.selectOption("#unit", "MiB");
  await settle(page);
  assert.equal(await param(page, "unit"), "MiB");
  assert.match(await page.textContent(".headline-figures"), /^5\d{4}\.\d\d MiB peak/);
  await page.selectOption("#unit", "bytes");
  await settle(page);
  assert.match(await page.textContent(".headline-figures strong"), /^568\d{8} B$/);
  await page.selectOption("#unit", "auto");
  await settle(page);
  assert.equal(await param(page, "unit"), null);
});

test("a capacity says whether the program fits", async () => {
  await open(page, server, "?run=v5e_gpt_12layer_oom&capacity=15.75GiB");
  assert.match(await page.textContent(".verdict"), /^OVERFLOW by 37\.\d\d GiB$/);
  await page.fill("#capacity", "95 GiB");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.match(await page.textContent(".verdict"), /^fits/);
  assert.equal(await param(page, "capacity"), "95GiB");
  await page.fill("#capacity", "a lot");
  await page.keyboard.press("Enter");
  assert.equal(await page.getAttribute("#capacity", "aria-invalid"), "true");
});

test("a device is chosen by name, is remembered for its host, and marks the modules", async () => {
  const page = await newPage(browser, server);
  await open(page, server, "?run=v5e_gpt_12layer_oom");
  await page.fill("#capacity", "v5e");
  await page.keyboard.press("Enter");
  await settle(page);
  assert.equal(await param(page, "capacity"), "15.75GiB");
  assert.equal(await page.inputValue("#capacity"), "15.75GiB");
  assert.match(await page.textContent(".verdict"), /^OVERFLOW by 37\.15 GiB$/);
  assert.equal(await page.textContent(".modules-section .entry-fit"), "over");
  await open(page, server, "?run=v5e_matmul");
  assert.match(await page.textContent(".verdict"), /^fits/, "a program of the same host");
  assert.equal(await page.textContent(".modules-section .entry-fit"), "fits");
  await open(page, server, "?run=v5e_matmul&capacity=1MiB");
  assert.match(await page.textContent(".verdict"), /^OVERFLOW/, "the address wins");
  await open(page, server, "?run=h100_programs");
  assert.equal(await page.textContent(".verdict"), "", "another host has other devices");
  await open(page, server, "?run=v5e_matmul");
  await page.fill("#capacity", "");
  await page.keyboard.press("Enter");
  await settle(page);
  await open(page, server, "?run=v5e_matmul");
  assert.equal(await page.textContent(".verdict"), "", "forgotten");
  assert.deepEqual(page.complaints, []);
});

test("the whole state survives a reload and travels in a link", async () => {
  const query =
    "?run=v5e_gpt_12layer_oom&tag=memory_viewer&host=tpu-vm-0&module_name=jit_train_step(1)&step=500" +
    "&zoom=400,600&filter=fusion&sort=name&unit=MiB&capacity=16GiB";
  await open(page, server, query);
  assert.equal(await page.evaluate(() => location.search), query);
  assert.match(await page.textContent(".bars .facts"), /step 500 of/);
  assert.equal(await page.inputValue("#search"), "fusion");
  const link = await copiedBy(page, () => page.click("#copy-link"));
  assert.equal(new URL(link).search, query);
  await page.waitForSelector(".said >> text=this machine only");
});

test("a session that does not exist is said, and the others are offered", async () => {
  await open(page, server, "?run=gone&tag=memory_viewer");
  await page.waitForSelector(".message >> text=There is no session");
  assert.match(await page.textContent(".message"), /"gone".*is not under/s);
  await page.locator(".message button.link").first().click();
  await page.waitForFunction(() => new URLSearchParams(location.search).get("run") !== "gone");
  await page.waitForSelector(".headline, .message h2");
});

test("a module that does not exist is said, and the others are offered", async () => {
  await open(page, server, "?run=h100_programs&module_name=nothing(7)");
  await page.waitForSelector(".message >> text=no module");
  await page.locator(".message button.link").first().click();
  await page.waitForSelector(".headline");
  assert.match(await page.textContent(".headline-name"), /h100_programs/);
});

test("a session without modules says where it looked and how to make one", async () => {
  await open(page, server, "?run=tf_tiny&tag=memory_viewer");
  await page.waitForSelector(".message");
  const words = await page.textContent(".message");
  assert.match(words, /holds no HLO module/);
  assert.match(words, /vm\.xplane\.pb/);
  assert.match(words, /jax\.profiler\.start_trace/);
  assert.match(await copiedBy(page, () => page.click(".snippet .copy")), /start_trace/);
});

test("a space without a simulation says why there is no curve", async () => {
  await open(page, server, "?run=v5e_matmul");
  assert.match(await page.textContent("#main"), /no heap simulation for HBM/);
  assert.equal(await page.locator(".bar-canvas").count(), 3);
});

test("an unknown tool is said", async () => {
  await open(page, server, "?run=v5e_matmul&tag=overview_page");
  assert.match(await page.textContent(".message"), /no tool "overview_page"/);
  await page.click(".message button.link");
  await page.waitForSelector(".headline");
});

test("? lists the keys", async () => {
  await open(page, server, "?run=v5e_matmul");
  await page.keyboard.press("?");
  assert.match(await page.textContent("dialog[open]"), /next module.*zoom in.*let go/s);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("dialog[open]").count(), 0);
});

test("dark and light: by the system, by choice, remembered", async () => {
  const background = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  await open(page, server, "?run=v5e_matmul");
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await background(), "rgb(255, 255, 255)");
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  assert.notEqual(dark, "rgb(255, 255, 255)");
  await page.click("#theme");
  assert.equal(await background(), "rgb(255, 255, 255)", "light by choice");
  await page.reload();
  await page.waitForSelector(".headline");
  assert.equal(await background(), "rgb(255, 255, 255)");
  await page.click("#theme");
  assert.equal(await background(), dark);
  await page.click("#theme");
});

test("no width from 1280 to 2560, nor 200 % zoom, scrolls sideways", async () => {
  for (const width of [640, 1280, 1700, 2560]) {
    await page.setViewportSize({ width, height: 800 });
    await open(page, server, "?run=v5e_gpt_12layer_oom&capacity=15.75GiB");
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} wide`);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("Tab reaches search, charts and table, and focus is seen", async () => {
  await open(page, server, "?run=v5e_gpt_12layer_oom&panel=table");
  const reached = new Set();
  for (let i = 0; i < 60; i += 1) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.tagName));
  }
  for (const one of ["pick-sessions", "unit", "copy-link", "capacity", "search", "SECTION", "TR"])
    assert.ok(reached.has(one), one);
});

const focused = (page) =>
  page.evaluate(() => {
    const { tagName, id, textContent } = document.activeElement;
    return `${tagName.toLowerCase()}${id ? `#${id}` : ""} ${textContent.slice(0, 20)}`.trim();
  });

test("the focus is never lost: not by what is made anew, by what goes away, nor by Escape", async () => {
  const page = await newPage(browser, server);
  const press = async (selector, key) => {
    await page.locator(selector).first().focus();
    await page.keyboard.press(key);
    await settle(page);
    return focused(page);
  };
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer");
  assert.match(await press(".who button.sort", "Enter"), /^button Held by/, "the heads of a table are made anew");
  assert.match(await press("#card-pin", "Enter"), /^button#card-pin/, "so is the card");
  assert.match(await press("#search", "Escape"), /^main#main/);
  assert.match(await press("#capacity", "Escape"), /^main#main/);
  await page.locator("#compare").focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector("#pick-tools").value === "compare");
  await settle(page);
  assert.match(await focused(page), /^main#main/, "another tool stands there");
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer");
  await page.locator("#search").focus();
  await page.mouse.click(700, 330);
  await settle(page);
  assert.doesNotMatch(await focused(page), /#search/, "a focus that was given up is not brought back");
  await page.close();
});

test("what is cut off for want of room is read where the mouse rests", async () => {
  const page = await newPage(browser, server, { viewport: { width: 1024, height: 768 } });
  await open(page, server, "?run=v5e_gpt_12layer_oom&tag=memory_viewer");
  const line = page.locator("#dock .card-sub");
  await line.hover();
  await page.waitForFunction(() => document.querySelector("#dock .card-sub").title.includes("hover over any other"));
  const [sub, buttons] = [await line.boundingBox(), await page.locator("#card-pin").boundingBox()];
  assert.ok(sub.x + sub.width <= buttons.x, "it ends before the buttons");
  await page.close();
});

test("nothing went wrong on the way", () => {
  assert.deepEqual(page.complaints, []);
});
