// The module list of a pod: what its hosts run as one program is one entry.
import assert from "node:assert/strict";
import test from "node:test";
import { findModule, foldModules, hostsText } from "../../../web/js/tools/memory_viewer/data/modules.js";

const hosts = (from, to) => Array.from({ length: to - from }, (_, i) => `host-${from + i}`);
const module = (name, family, on) => ({ name, module_name: name.split("(")[0], family, host: on[0], hosts: on });

const MANY = module("step(35)", 0, hosts(1, 256));
const ONE = module("step(36)", 0, ["host-0"]);
const OTHER = module("eval(1)", 1, hosts(0, 256));

test("a family is one entry, in the order of the list", () => {
  const folds = foldModules([ONE, OTHER, MANY]);
  assert.deepEqual(
    folds.map((one) => [one.module, one.variants]),
    [
      [ONE, [ONE, MANY]],
      [OTHER, [OTHER]],
    ],
  );
});

test("modules that no family is told of stay apart", () => {
  const alone = { ...ONE, family: undefined };
  assert.equal(foldModules([alone, { ...alone }]).length, 2);
});

test("hosts in words", () => {
  assert.equal(hostsText([OTHER]), "256 hosts, same program");
  assert.equal(hostsText([module("f(1)", 0, ["a", "b"])]), "a, b");
  assert.equal(hostsText([ONE, MANY]), "2 variants: 255 + 1 (host-0)");
  assert.equal(hostsText([module("f(1)", 0, ["a"]), module("f(1)", 0, ["b"])]), "2 variants: 1 + 1");
  assert.equal(hostsText([module("f(1)", 0, hosts(0, 9)), module("f(1)", 0, hosts(9, 12))]), "2 variants: 9 + 3");
});

test("a host that counts the program under another id has it all the same", () => {
  const all = [ONE, OTHER, MANY];
  assert.equal(findModule(all, "step(35)", "host-0"), ONE);
  assert.equal(findModule(all, "step(35)", "host-7"), MANY);
  assert.equal(findModule(all, "eval(1)", "host-7"), OTHER);
});
