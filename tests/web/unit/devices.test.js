// What devices have, and whether a module has room in it.
import { test } from "node:test";
import assert from "node:assert/strict";
import {
  capacityOfDevice,
  deviceNamed,
  profiledDevice,
  whereCapacityIsFrom,
} from "../../../web/js/base/devices.js";
import { parseSize } from "../../../web/js/base/size_text.js";
import { fitOfModule } from "../../../web/js/tools/memory_viewer/data/modules.js";

const DEVICES = [
  { name: "TPU v5e", other_name: "TPU v5 lite", capacity: "15.75GiB", source: "compiler" },
  { name: "TPU v5p", other_name: "TPU v5", capacity: "95.73GiB", source: "compiler" },
  { name: "A100 40 GB", other_name: null, capacity: "40GiB", source: "vendor" },
  { name: "A100 80 GB", other_name: null, capacity: "80GiB", source: "vendor" },
];

test("a device is found by what people call it", () => {
  const capacityOf = (text) => deviceNamed(DEVICES, text)?.capacity ?? null;
  assert.equal(capacityOf("v5e"), "15.75GiB");
  assert.equal(capacityOf("TPU V5e"), "15.75GiB");
  assert.equal(capacityOf("tpu_v5-lite"), "15.75GiB");
  assert.equal(capacityOf("A100-80GB"), "80GiB");
  assert.equal(capacityOf("NVIDIA A100-80GB"), "80GiB");
  assert.equal(capacityOf("A100"), null, "there are two");
  assert.equal(capacityOf("v5"), null, "there are two, whatever a profile calls one of them");
  assert.equal(capacityOf("TPU"), null);
  assert.equal(capacityOf(""), null);
  assert.equal(capacityOf("Cray-1"), null);
});

test("the capacity of a profile's device is never more than it says, and says where it is from", () => {
  const plane = "/device:GPU:0";
  const gpu = { host: "b", plane, name: null, capacity_bytes: 16945512448, capacity_from: "memory_size" };
  const tpu = { ...gpu, host: "c", name: "TPU v5e", capacity_bytes: 16911433728, capacity_from: "device_type" };
  const mute = { ...gpu, host: "a", capacity_bytes: null, capacity_from: null };
  const of = (...devices) => ({ devices });
  assert.equal(capacityOfDevice(gpu), "15.78GiB");
  assert.ok(parseSize("15.78GiB") <= 16945512448);
  assert.equal(profiledDevice(of(mute, gpu, tpu), "c"), tpu);
  assert.equal(profiledDevice(of(mute, gpu, tpu), "a"), gpu, "of another host, where its own says nothing");
  assert.equal(profiledDevice(of(mute), "a"), null);
  assert.equal(profiledDevice(null, "a"), null);
  assert.match(whereCapacityIsFrom(gpu), /memory_size of \/device:GPU:0/);
  assert.match(whereCapacityIsFrom(tpu), /TPU v5e in \/device:GPU:0/);
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
