// A folder as an open S3 bucket whose answers the test holds back: for what the page does while it waits.
import { createServer } from "node:http";
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const pinOf = (bytes) => createHash("md5").update(bytes).digest("hex");

/**
 * `hold(test)` keeps every request whose path matches until `release()`; `refuse(status, test)` answers so instead;
 * `held()` is how many wait.
 */
export async function startBucket(folder) {
  const bucket = { url: "s3://bucket/run", environment: {}, hold, release, refuse, held, stop };
  let holds = null;
  let refusal = null;
  let waiting = [];

  const server = createServer(async (request, response) => {
    const url = new URL(request.url, "http://bucket");
    const name = decodeURIComponent(url.pathname).slice("/bucket/".length);
    if (holds?.test(name)) await new Promise((resolve) => waiting.push(resolve));
    if (refusal?.test.test(name)) return void response.writeHead(refusal.status).end();
    if (!name) return answerList(response, url.searchParams.get("prefix") ?? "");
    await answerRange(request, response, name);
  });
  server.keepAliveTimeout = 60000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  bucket.environment = {
    AWS_ENDPOINT_URL: `http://127.0.0.1:${address.port}`,
    AWS_REGION: "eu-test-1",
    AWS_EC2_METADATA_DISABLED: "true",
    HOME: "/nonexistent",
  };
  return bucket;

  async function answerList(response, prefix) {
    const names = (await readdir(folder, { recursive: true })).sort();
    const entries = [];
    for (const name of names) {
      const file = path.join(folder, name);
      if (!name.startsWith(prefix) || !(await stat(file)).isFile()) continue;
      const bytes = await readFile(file);
      entries.push(
        `<Contents><Key>${escaped(name)}</Key><Size>${bytes.length}</Size><ETag>"${pinOf(bytes)}"</ETag>` +
          "<LastModified>2026-01-02T03:04:05.000Z</LastModified></Contents>",
      );
    }
    response.end(`<ListBucketResult>${entries.join("")}</ListBucketResult>`);
  }

  async function answerRange(request, response, name) {
    const bytes = await readFile(path.join(folder, name));
    const whole = ["", "0", String(bytes.length - 1)];
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? "") ?? whole;
    const part = bytes.subarray(Number(first), Number(last) + 1);
    const end = Number(first) + part.length - 1;
    const range = `bytes ${first}-${end}/${bytes.length}`;
    response.writeHead(206, { "Content-Range": range, "Content-Length": part.length });
    response.end(part);
  }

  function hold(test) {
    holds = test;
  }

  function release() {
    holds = null;
    for (const go of waiting) go();
    waiting = [];
  }

  function refuse(status, test) {
    refusal = status ? { status, test } : null;
  }

  function held() {
    return waiting.length;
  }

  function stop() {
    release();
    server.closeAllConnections();
    server.close();
  }
}
