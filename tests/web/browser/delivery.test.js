// How the page comes: few files that a browser keeps for good, from wherever the page stands; and its sources as they
// are, with --web_dir.
import { createServer, request } from "node:http";
import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { newPage, open, startBrowser, startServer } from "./harness.js";

const VIEW = "?run=v5e_matmul";
const TOOLS = ["memory_viewer", "memory_profile", "device_memory", "out_of_memory"];
let server;
let browser;

before(async () => {
  server = await startServer();
  browser = await startBrowser();
});

after(async () => {
  await browser?.close();
  server?.stop();
});

/** Opens `address`; what was loaded on the way, as [path, bytes on the wire]. The icon's bytes are not told. */
async function loadedBy(page, address, from = server) {
  await open(page, from, address);
  return page.evaluate(() =>
    performance.getEntriesByType("resource").map((one) => [new URL(one.name).pathname, one.transferSize]),
  );
}

test("a first visit loads few files, a second one none of them", async () => {
  const page = await newPage(browser, server);
  const files = (await loadedBy(page, VIEW)).filter(([path]) => !path.startsWith("/api/"));
  assert.ok(files.length >= 4 && files.length <= 6, files.join("\n"));
  for (const [path, bytes] of files) {
    assert.match(path, /^\/assets\/[a-z]+-[0-9A-Z]{8}\.(js|css|svg)$/);
    assert.ok(bytes > 0 || path.endsWith(".svg"), path);
  }
  const again = (await loadedBy(page, VIEW)).filter(([path]) => !path.startsWith("/api/"));
  assert.deepEqual(again.map(([path]) => path).sort(), files.map(([path]) => path).sort());
  for (const [path, bytes] of again) assert.equal(bytes, 0, path);
  assert.deepEqual(page.complaints, []);
});

test("files whose names tell their content are kept for good; index.html is asked for every time", async () => {
  const index = await fetch(server.url);
  assert.equal(index.headers.get("cache-control"), "no-cache");
  assert.ok(index.headers.get("etag"));
  const named = [...(await index.text()).matchAll(/(?:href|src)="([^"#]+)"/g)].map(([, address]) => address);
  const files = named.filter((address) => address !== "./");
  assert.ok(files.length >= 4);
  for (const address of files) {
    assert.match(address, /^\.\/assets\//);
    const file = await fetch(new URL(address, server.url));
    assert.equal(file.status, 200, address);
    assert.match(file.headers.get("cache-control"), /immutable/, address);
    assert.equal(file.headers.get("content-encoding"), "gzip", address);
  }
});

test("a tool is fetched when it is opened", async () => {
  const page = await newPage(browser, server);
  const scripts = (await loadedBy(page, VIEW)).filter(([path]) => path.endsWith(".js"));
  assert.equal(scripts.length, 3, "the shell, what tools share, the Memory Viewer");
  await page.click("#facts-fold");
  await page.getByRole("button", { name: "Memory Profile" }).click();
  await page.waitForFunction(
    () => performance.getEntriesByType("resource").filter((one) => one.name.endsWith(".js")).length === 4,
  );
  assert.deepEqual(page.complaints, []);
});

test("a deep link finds the page's files", async () => {
  const page = await newPage(browser, server);
  for (const path of ["memory_viewer", "local/", "a/b", "data/plugin/profile/"]) {
    await open(page, server, `${path}${VIEW}`);
    assert.ok(await page.locator("canvas").count(), path);
    assert.equal(new URL(page.url()).pathname, `/${path}`);
  }
  assert.deepEqual(page.complaints, []);
});

/** What a notebook's proxy does: /some/where/... is the server's /... */
async function startProxy(prefix) {
  const { host, hostname, port } = new URL(server.url);
  const strayed = [];
  const proxy = createServer((from, to) => {
    if (!from.url.startsWith(prefix)) {
      strayed.push(from.url);
      to.writeHead(404).end();
      return;
    }
    const path = from.url.slice(prefix.length - 1);
    const options = { hostname, port, path, method: from.method, headers: { ...from.headers, host } };
    from.pipe(
      request(options, (reply) => {
        to.writeHead(reply.statusCode, reply.headers);
        reply.pipe(to);
      }),
    );
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${proxy.address().port}${prefix}`, strayed, stop: () => proxy.close() };
}

test("the page works below a path", async () => {
  const proxy = await startProxy("/user/me/proxy/8791/");
  const page = await newPage(browser, proxy);
  for (const tool of TOOLS) {
    await page.goto(`${proxy.url}?tag=${tool}&run=v5e_matmul`);
    await page.waitForFunction(() => document.querySelector("#main > *"));
    assert.equal(await page.getByText("hbmview").first().getAttribute("href"), "./");
  }
  assert.deepEqual(proxy.strayed.filter((path) => path !== "/favicon.ico"), []);
  assert.deepEqual(page.complaints, []);
  await page.context().close();
  proxy.stop();
});

test("the sources work as they are", async () => {
  const source = await startServer(undefined, ["--web_dir=web"]);
  try {
    const page = await newPage(browser, source);
    for (const tool of TOOLS.slice(0, 2)) {
      const files = await loadedBy(page, `?tag=${tool}&run=v5e_matmul`, source);
      assert.ok(files.some(([path]) => path === `/js/tools/${tool}/tool.js`));
    }
    assert.deepEqual(page.complaints, []);
  } finally {
    source.stop();
  }
});
