// Charts as PNG and SVG, tables as CSV and JSON: what is in the files, by mouse and by keyboard.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { newPage, open, settle, startBrowser, startServer } from "./harness.js";

const OOM = "?run=v5e_gpt_12layer_oom&tag=memory_viewer";
let server, browser, page;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
  page = await newPage(browser, server, { acceptDownloads: true });
});

after(async () => {
  await browser?.close();
  server?.stop();
});

const menuOf = (part) => page.locator(`${part} .save-menu`).first();

/** What the menu of a part of the page saves, by mouse. */
async function saved(part, kind) {
  await menuOf(part).locator("summary").click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    menuOf(part).getByRole("button", { name: `as ${kind.toUpperCase()}` }).click(),
  ]);
  await settle(page);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** The picture as a browser shows it: its size, how many colours it has, and the colours at `places` (in shares). */
function looked(bytes, type, places = []) {
  const url = `data:${type};base64,${bytes.toString("base64")}`;
  return page.evaluate(
    async ([address, at]) => {
      const image = new Image();
      image.src = address;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
      const pixels = new Set(new Uint32Array(data.buffer));
      const pixelAt = ([x, y]) => context.getImageData(x * canvas.width, y * canvas.height, 1, 1).data;
      const colorAt = (place) => [...pixelAt(place).slice(0, 3)];
      return { width: canvas.width, height: canvas.height, colors: pixels.size, at: at.map(colorAt) };
    },
    [url, places],
  );
}

/** The parsed SVG: its texts and how many marks of each kind it has. */
function parsed(bytes) {
  return page.evaluate((text) => {
    const tree = new DOMParser().parseFromString(text, "image/svg+xml");
    const count = (name) => tree.querySelectorAll(name).length;
    return {
      error: tree.querySelector("parsererror")?.textContent ?? null,
      texts: [...tree.querySelectorAll("text")].map((node) => node.textContent),
      counts: { rect: count("rect"), path: count("path"), image: count("image"), foreign: count("script") },
    };
  }, bytes.toString("utf8"));
}

const near = (color, other) => color.every((value, i) => Math.abs(value - other[i]) < 24);
const isOrange = ([red, green, blue]) => red > green + 20 && green > blue + 20;

test("the bars are saved as PNG at the screen's pixels, with title, labels and where they are from", async () => {
  await open(page, server, OOM);
  const { name, bytes } = await saved(".bars", "png");
  assert.equal(name, "v5e_gpt_12layer_oom jit_train_step(1) bars.png");
  assert.equal(bytes.subarray(1, 4).toString(), "PNG");
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const box = await page.locator(".bars").boundingBox();
  assert.ok(Math.abs(width - box.width - 24) <= 1 && height > box.height, `${width} x ${height}`);
  const bar = await page.locator("canvas[data-order=size]").boundingBox();
  const inBar = [(12 + bar.x - box.x + bar.width * 0.62) / width, (12 + bar.y - box.y + 4) / height];
  const { colors, at } = await looked(bytes, "image/png", [inBar, [0.999, 0.001]]);
  assert.ok(colors > 50);
  assert.ok(isOrange(at[0]), String(at[0]));
  assert.ok(near(at[1], [255, 255, 255]));
});

for (const [part, file, texts, least] of [
  [".bars", "bars", [/^HLO Ops at Peak/, /^train\.py:53/, /^by Buffer Size \(391\)$/], { rect: 40 }],
  [".chart:has(.curve)", "curve", [/^Memory Allocation Size/, /^Program Order$/, /^peak, step 347$/], { path: 3 }],
  [".who", "who holds it", [/^Who holds it at the peak$/, /^train\.py:53$/, /^33\.09$/], { rect: 10 }],
]) {
  test(`${file}: SVG with text as text and shapes as vectors`, async () => {
    await open(page, server, OOM);
    const { name, bytes } = await saved(part, "svg");
    assert.equal(name, `v5e_gpt_12layer_oom jit_train_step(1) ${file}.svg`);
    const { error, texts: found, counts } = await parsed(bytes);
    assert.equal(error, null);
    for (const text of texts) assert.ok(found.some((one) => text.test(one.trim())), `${text} in ${found.slice(0, 40)}`);
    for (const [kind, count] of Object.entries(least)) assert.ok(counts[kind] >= count, `${kind}: ${counts[kind]}`);
    assert.deepEqual([counts.image, counts.foreign], [0, 0]);
    assert.equal(found.at(-1), "v5e_gpt_12layer_oom / jit_train_step(1) / hbmview");
    const { colors } = await looked(bytes, "image/svg+xml");
    assert.ok(colors > 8);
  });
}

test("the timeline of memory is vectors too, and they stand where its pixels do", async () => {
  await open(page, server, "?run=tf_leak&tag=memory_profile");
  const { name, bytes } = await saved(".chart:has(.timeline)", "svg");
  assert.equal(name, "tf_leak vm bfc_cpu_allocator_for_gpu timeline.svg");
  const { error, texts, counts } = await parsed(bytes);
  assert.deepEqual([error, counts.image], [null, 0]);
  assert.ok(texts.includes("Timestamp (ms)") && texts.some((one) => /^peak 15\.89 MiB, step 11$/.test(one)));
  const png = await saved(".chart:has(.timeline)", "png");
  const places = [[0.68, 0.75], [0.68, 0.3], [0.12, 0.5]];
  const vectors = await looked(bytes, "image/svg+xml", places);
  const pixels = await looked(png.bytes, "image/png", places);
  assert.deepEqual([vectors.width, vectors.height], [pixels.width, pixels.height]);
  vectors.at.forEach((color, i) => assert.ok(near(color, pixels.at[i]), `${color}, ${pixels.at[i]} at ${places[i]}`));
  assert.ok(isOrange(vectors.at[0]));
});

test("a dark page makes dark pictures", async () => {
  await page.emulateMedia({ colorScheme: "dark" });
  await open(page, server, OOM);
  const { bytes } = await saved(".chart:has(.curve)", "png");
  const { at } = await looked(bytes, "image/png", [[0.002, 0.002]]);
  assert.ok(near(at[0], [20, 23, 26]), String(at[0]));
  await page.emulateMedia({ colorScheme: "light" });
});

test("the menu by keyboard: opens, saves, closes with Escape and keeps the focus", async () => {
  await open(page, server, OOM);
  const menu = menuOf(".chart:has(.curve)");
  await menu.locator("summary").focus();
  await page.keyboard.press("Enter");
  assert.ok(await menu.evaluate((node) => node.open));
  await page.keyboard.press("Escape");
  assert.ok(!(await menu.evaluate((node) => node.open)));
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("Enter")]);
  assert.match(download.suggestedFilename(), / curve\.png$/);
  await page.waitForFunction(() => document.activeElement?.tagName === "SUMMARY");
});

for (const { query, part, name, columns, first, count, isWhole } of [
  {
    query: `${OOM}&panel=table`,
    part: ".chart:has(.buffers)",
    name: "v5e_gpt_12layer_oom jit_train_step(1) live buffers",
    columns: ["InstructionName", "SizeBytes"],
    first: { op_code: "copy" },
    isWhole: true,
  },
  {
    query: OOM,
    part: ".who",
    name: "v5e_gpt_12layer_oom jit_train_step(1) who holds it",
    columns: ["SizeBytes"],
    first: { buffers: 34 },
    isWhole: true,
  },
  {
    query: "?run=tf_leak&tag=memory_profile&panel=breakdown",
    part: ".panel-controls",
    name: "tf_leak vm bfc_cpu_allocator_for_gpu breakdown",
    columns: [],
    first: {},
  },
  {
    query: "?run=tf_leak&tag=memory_profile&panel=events",
    part: ".panel-controls",
    name: "tf_leak vm bfc_cpu_allocator_for_gpu events",
    columns: [],
    first: {},
    count: 467,
  },
]) {
  test(`${name}: CSV and JSON tell the same`, async () => {
    await open(page, server, query);
    await page.waitForSelector(`${part} .save-menu`);
    const csv = await saved(part, "csv");
    const json = await saved(part, "json");
    assert.deepEqual([csv.name, json.name], [`${name}.csv`, `${name}.json`]);
    const lines = csv.bytes.toString("utf8").trimEnd().split("\n");
    const { rows } = JSON.parse(json.bytes.toString("utf8"));
    assert.equal(rows.length, lines.length - 1);
    assert.equal(rows.length, count ?? rows.length);
    for (const column of columns) assert.ok(lines[0].split(",").includes(column), lines[0]);
    for (const [member, value] of Object.entries(first)) assert.equal(rows[0][member], value);
    const peak = await page.locator(".headline-figures .figure").first().getAttribute("title");
    const bytes = rows.reduce((sum, row) => sum + row.size_bytes, 0);
    if (isWhole) assert.equal(bytes, Number(peak.replace(/\D/g, "")));
    assert.equal(Object.keys(rows[0]).length, lines[0].split(",").length);
  });
}

test("nothing was loaded from elsewhere, and nothing complained", () => assert.deepEqual(page.complaints, []));
