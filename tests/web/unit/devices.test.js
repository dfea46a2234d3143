// What devices have, and whether a module has room in it.
import { test } from "node:test";
import assert from "node:assert/strict";
import { deviceNamed, DEVICES } from "../../../web/js/base/devices.js";
import { parseSize } from "../../../web/js/base/size_text.js";
import { fitOfModule } from "../../../web/js/tools/memory_viewer/data/modules.js";

test("a device is found by what people call it", () => {
  const capacityOf = (text) => deviceNamed(text)?.capacity ?? null;
  assert.equal(capacityOf("v5e"), "15.75GiB");
  assert.equal(capacityOf("TPU V5e"), "15.75GiB");
  assert.equal(capacityOf("tpu-v7x"), "94.74GiB");
  assert.equal(capacityOf("A100-80GB"), "80GiB");
  assert.equal(capacityOf("h200"), "141GiB");
  assert.equal(capacityOf("A100"), null, "there are two");
  assert.equal(capacityOf("TPU"), null);
  assert.equal(capacityOf(""), null);
  assert.equal(capacityOf("Cray-1"), null);
});

test("every device finds itself, and what it has is a size", () => {
  for (const device of DEVICES) {
    assert.equal(deviceNamed(device.name), device);
    assert.ok(parseSize(device.capacity) > 2 ** 30, device.name);
  }
});

test("a module fits, may fit or is over by the total and the peak of the space that is shown", () => {
  const of = (space, peak, total) => ({ space, peak_bytes: peak, total_allocation_bytes: total });
  const module = { state: "ready", memory_spaces: [of(0, 200, 210), of(1, 5, 5)] };
  const word = (space, capacity) => fitOfModule(module, space, capacity)?.word ?? null;
  assert.deepEqual(
    [word(0, 210), word(0, 205), word(0, 199), word(1, 199)],
    ["fits", "may fit", "over", "fits"],
  );
  assert.equal(word(0, null), null);
  assert.equal(word(2, 100), null, "no such space");
  assert.equal(fitOfModule({ ...module, state: "pending" }, 0, 100), null);
});
