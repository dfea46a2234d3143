// The yardstick of page_speed.js: a bare page that loads uPlot and draws one line from a JSON of 1 MB, served as
// hbmview serves its own (gzip made once, a tag and 304, a script that is immutable).
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const JSON_BYTES = 1 << 20;

const SCRIPT = `
import uPlot from "uplot";
const { x, y } = await (await fetch("line.json")).json();
const options = { width: 1200, height: 400, series: [{}, { stroke: "black" }], scales: { x: { time: false } } };
new uPlot(options, [x, y], document.getElementById("line"));
requestAnimationFrame(() => performance.mark("hbmview-painted"));
`;

/** A walk of whole numbers, as sizes in bytes go. */
function lineJson() {
  const [x, y] = [[], []];
  let [size, seed, value] = [0, 1, 2 ** 33];
  while (size < JSON_BYTES) {
    seed = (seed * 48271) % 2147483647;
    value += (seed % 4096) * 512 - 2048 * 512;
    x.push(x.length);
    y.push(value);
    size += `${value},${x.length},`.length;
  }
  return JSON.stringify({ x, y });
}

async function files() {
  const stdin = { contents: SCRIPT, resolveDir: "." };
  const { outputFiles } = await build({ stdin, bundle: true, minify: true, format: "esm", write: false });
  const page = `<!doctype html><meta charset="utf-8"><title>line</title><link rel="icon" href="data:,">
<script type="module" src="./line-1.js"></script><div id="line"></div>`;
  const whole = { "/": ["text/html", page], "/line-1.js": ["text/javascript", outputFiles[0].text] };
  return { ...whole, "/line.json": ["application/json", lineJson()] };
}

/** @returns {Promise<{url: string, stop: () => void}>} */
export async function startBarePage() {
  const replies = Object.entries(await files()).map(([path, [type, body]]) => {
    const tag = `"${createHash("sha256").update(body).digest("hex").slice(0, 16)}"`;
    return [path, { body: gzipSync(body), headers: headersOf(path, type, tag) }];
  });
  const known = new Map(replies);
  const server = createServer((request, response) => {
    const { body, headers } = known.get(request.url) ?? { body: "", headers: {} };
    if (request.headers["if-none-match"] === headers.ETag) return void response.writeHead(304, headers).end();
    response.writeHead(200, { ...headers, "Content-Length": body.length, "Content-Encoding": "gzip" }).end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(null)));
  return { url: `http://127.0.0.1:${server.address().port}/`, stop: () => server.close() };
}

function headersOf(path, type, tag) {
  const kept = path.endsWith(".js") ? "max-age=31536000, immutable" : "no-cache";
  return { "Content-Type": type, ETag: tag, "Cache-Control": kept };
}
