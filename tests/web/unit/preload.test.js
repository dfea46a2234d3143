import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import assert from "node:assert/strict";

const IMPORT = /^(?:import|export)\s(?:[^;"']*?\sfrom\s+)?"([./][^"]+)"/gm;

/** Every module that `path` ("/js/main.js") leads to by static imports. */
function reached(path, found = new Set()) {
  if (found.has(path)) return found;
  found.add(path);
  if (path.startsWith("/vendor/")) return found;
  const source = readFileSync(join("web", path), "utf8");
  for (const [, target] of source.matchAll(IMPORT)) {
    reached(target.startsWith("/") ? target : normalize(join(dirname(path), target)), found);
  }
  return found;
}

test("index.html preloads every module of the page", () => {
  const html = readFileSync("web/index.html", "utf8");
  const preloaded = [...html.matchAll(/rel="modulepreload" href="([^"]+)"/g)].map(([, path]) => path);
  const started = [...html.matchAll(/<script type="module"[^>]* src="([^"]+)"/g)].map(([, path]) => path);
  const wanted = [...reached("/js/main.js")].filter((path) => !started.includes(path));
  assert.ok(wanted.length > 20);
  assert.deepEqual(preloaded, wanted.sort(), "the list in web/index.html is out of date");
});
