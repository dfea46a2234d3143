import { test } from "node:test";
import assert from "node:assert/strict";
import { baseOfLinks, formatQuery, isOnThisMachine, linkFor, parseQuery } from "../../../web/js/base/url_state.js";

test("XProf's address opens the same view", () => {
  const params = parseQuery("?run=s&tag=memory_viewer&host=h&moduleName=jit_f(1)");
  assert.deepEqual(
    [params.run, params.tag, params.host, params.module_name],
    ["s", "memory_viewer", "h", "jit_f(1)"],
  );
  assert.equal(parseQuery("?tool=memory_viewer").tag, "memory_viewer");
  assert.equal(parseQuery("?module_name=a&moduleName=b").module_name, "a");
});

test("what is not set is not written, and what is written comes back", () => {
  const params = {
    ...parseQuery(""),
    run: "a b&c",
    module_name: "jit_f(1)",
    zoom: "1,2",
    filter: "dot|exp",
    step: "0",
  };
  const query = formatQuery(params);
  assert.equal(query, "?run=a+b%26c&module_name=jit_f(1)&step=0&zoom=1,2&filter=dot%7Cexp");
  assert.deepEqual(parseQuery(query), params);
  assert.equal(formatQuery(parseQuery("")), "");
});

test("a token never comes back into the address", () => {
  assert.equal(formatQuery(parseQuery("?token=secret&run=s")), "?run=s");
});

test("a link carries the server's token and the page's state", () => {
  assert.equal(linkFor("http://vm:6006/?token=t", "?run=s"), "http://vm:6006/?token=t&run=s");
  assert.equal(linkFor("http://vm:6006/", "?run=s"), "http://vm:6006/?run=s");
  assert.equal(linkFor("http://vm:6006/", ""), "http://vm:6006/");
});

test("a link for others begins where they can reach the page", () => {
  const token = ["http://vm:6006/?token=t", "http://10.0.0.7:6006/?token=t"];
  const base = (urls, root) => baseOfLinks(urls, new URL(root));
  assert.equal(base(token, "http://localhost:6006/"), token[0]);
  assert.equal(base(token, "http://10.0.0.7:6006/"), token[0]);
  assert.equal(base(token, "https://hub.example/tools/hbm/"), "https://hub.example/tools/hbm/?token=t");
  const notebook = "http://localhost:8888/proxy/6006/";
  assert.equal(base(["http://localhost:6006/"], notebook), notebook);
  assert.equal(base([], "https://abc-6006.tunnels.example/"), "https://abc-6006.tunnels.example/");
  assert.ok(isOnThisMachine(new URL("http://[::1]:80/")) && isOnThisMachine(new URL("http://127.0.0.2/")));
  assert.ok(!isOnThisMachine(new URL("http://127.example/")));
});
