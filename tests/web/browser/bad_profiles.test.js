// Log directories that hold nothing, or something broken, and a server that wants its token.
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { tmpdir } from "node:os";
import path from "node:path";
import { LOGDIR, newPage, open, param, settle, startBrowser, startServer } from "./harness.js";

let browser;
const folders = [];
const servers = [];

before(async () => {
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  servers.forEach((server) => server.stop());
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
});

function emptyLogdir() {
  const folder = mkdtempSync(path.join(tmpdir(), "hbmview-page-"));
  folders.push(folder);
  return folder;
}

async function serve(logdir, options) {
  const server = await startServer(logdir, options);
  servers.push(server);
  return server;
}

test("an empty log directory: what was looked for, where, and how to take a profile", async () => {
  const logdir = emptyLogdir();
  const server = await serve(logdir);
  const page = await newPage(browser, server);
  await open(page, server, "");
  const words = await page.textContent(".message");
  assert.match(words, /No profile data was found/);
  assert.ok(words.includes(logdir));
  assert.match(words, /jax\.profiler/);
  assert.match(words, /hbmview --logdir/);
  assert.deepEqual(page.complaints, []);
});

/** A log directory with the given sessions, a file of bytes each. */
function logdirOf(sessions) {
  const logdir = emptyLogdir();
  for (const [session, bytes] of Object.entries(sessions)) {
    mkdirSync(path.join(logdir, "plugins/profile", session), { recursive: true });
    writeFileSync(path.join(logdir, "plugins/profile", session, "vm.xplane.pb"), bytes);
  }
  return logdir;
}

const wholeProfile = () =>
  gunzipSync(readFileSync(path.join(LOGDIR, "plugins/profile/v5e_matmul/tpu-vm-0.xplane.pb.gz")));

test("a profile still being written is said, and opens by itself once it is whole", async () => {
  const whole = wholeProfile();
  const logdir = logdirOf({ whole, growing: whole.subarray(0, whole.length / 2) });
  const server = await serve(logdir);
  const page = await newPage(browser, server);
  await open(page, server, "?run=growing");
  assert.match(await page.textContent(".message"), /"growing" is not complete yet.*vm\.xplane\.pb/s);
  writeFileSync(path.join(logdir, "plugins/profile/growing/vm.xplane.pb"), whole);
  await page.waitForSelector(".headline");
  assert.match(await page.textContent(".headline-name"), /growing/);
  assert.deepEqual(page.complaints, []);
});

test("a folder without profiles, and files of no bytes, are told apart from profiles without programs", async () => {
  const logdir = logdirOf({ whole: wholeProfile(), hollow: Buffer.alloc(0) });
  mkdirSync(path.join(logdir, "plugins/profile/renamed"));
  writeFileSync(path.join(logdir, "plugins/profile/renamed/trace.pb"), wholeProfile());
  const hollow = path.join(logdir, "plugins/profile/hollow/vm.xplane.pb");
  utimesSync(hollow, 1_700_000_000, 1_700_000_000);
  const server = await serve(logdir);
  const page = await newPage(browser, server);
  await open(page, server, "?run=renamed&tag=memory_viewer");
  const words = await page.textContent(".message");
  assert.match(words, /no profile in this session's folder.*\*\.xplane\.pb.*another name/s);
  await open(page, server, "?run=hollow&tag=memory_viewer");
  assert.match(await page.textContent(".message"), /one file is empty.*vm\.xplane\.pb: 0 bytes/s);
  assert.deepEqual(page.complaints, []);
});

test("an unreadable file: the server's sentence, the file, the offset, and the way on", async () => {
  const server = await serve(logdirOf({ garbage: Buffer.alloc(5000, 0xff), whole: wholeProfile() }));
  const page = await newPage(browser, server);
  await open(page, server, "?run=garbage");
  await page.waitForSelector(".error-line");
  assert.match(await page.textContent(".error-line"), /garbage\/vm\.xplane\.pb, byte \d/);
  const title = await page.textContent(".message h2");
  assert.match(title, /cannot be read|could not be read/, "not that it holds no module");
  await page.click("#pick-sessions");
  await page.click("[role=option] >> text=whole");
  await page.waitForSelector(".headline");
  assert.deepEqual(page.complaints, []);
});

test("a damaged module: marked in the list, explained in its place", async () => {
  const damaged = wholeProfile();
  damaged.fill(0xff, 1500, 2500);
  const server = await serve(logdirOf({ damaged }));
  const page = await newPage(browser, server);
  await open(page, server, "?run=damaged");
  await page.waitForSelector(".error-line");
  assert.match(await page.textContent(".error-line"), /vm\.xplane\.pb, byte/);
  assert.match(await page.textContent(".modules-section .entry"), /error/);
});

test("a shared server is closed without its token, and keeps it out of the address", async () => {
  const server = await serve(LOGDIR, ["--bind_all"]);
  const page = await newPage(browser, server);
  const { origin } = new URL(server.url);
  await page.goto(`${origin}/`);
  await page.waitForSelector("h1");
  assert.match(await page.textContent("body"), /token/);
  await page.goto(`${server.url}&run=v5e_matmul`);
  await page.waitForSelector(".headline");
  assert.ok(!page.url().includes("token"));
  await page.context().clearCookies();
  await page.click('[aria-label="look again for sessions"]');
  await page.waitForSelector(".message >> text=needs its token");
});

test("files with programs of one name: each listed with its file, opened by it, kept in the address", async () => {
  const folder = emptyLogdir();
  const dump = path.join(LOGDIR, "..", "xla_dump", "v5e_padded");
  const name = readdirSync(dump).find((one) => one.endsWith(".after_optimizations.hlo.pb.gz"));
  const files = ["first.hlo_proto.pb", "second.hlo_proto.pb"];
  files.forEach((file) => writeFileSync(path.join(folder, file), gunzipSync(readFileSync(path.join(dump, name)))));
  files.forEach((file) => utimesSync(path.join(folder, file), 1.7e9, 1.7e9)); // not still being written
  const server = await serve(folder);
  const page = await newPage(browser, server);
  await open(page, server, "");
  const shown = await page.locator(".modules-section .entry-below").allTextContents();
  assert.deepEqual(shown.sort(), files);
  assert.ok(await page.getByLabel(/^Hosts/).isHidden());
  for (const file of files) {
    await page.locator(`.modules-section .entry[data-value$=" ${file}"]`).click();
    await settle(page);
    assert.equal(await param(page, "host"), file);
    assert.equal(await page.textContent(".modules-section .entry[aria-current] .entry-below"), file);
  }
  await page.context().close();
});
