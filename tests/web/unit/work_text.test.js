// What the server reads for the page, as a phrase.
import { test } from "node:test";
import assert from "node:assert/strict";
import { longestWait, workText } from "../../../web/js/shell/work_text.js";

const MIB = 1 << 20;
const BLANK = { request: "", path: "", waited_ms: 0, read_bytes: 0, wanted_bytes: 0, listed_names: 0 };
const row = (more) => ({ ...BLANK, ...more });

test("a file is told by its name and its bytes", () => {
  const path = "s3://bucket/run/plugins/profile/s1/tpu-vm-0.xplane.pb";
  assert.equal(workText(row({ path })), "reading tpu-vm-0.xplane.pb");
  assert.equal(workText(row({ path, read_bytes: MIB })), "reading tpu-vm-0.xplane.pb, 1.00 MiB");
  const some = row({ path, read_bytes: MIB, wanted_bytes: 24 * MIB });
  assert.equal(workText(some), "reading tpu-vm-0.xplane.pb, 1.00 MiB of 24.00 MiB");
});

test("bytes that are not known to be needed are not told as a share", () => {
  assert.equal(workText(row({ path: "a", read_bytes: 2 * MIB, wanted_bytes: MIB })), "reading a, 2.00 MiB");
});

test("a folder is told by its names", () => {
  const listed = row({ path: "gs://bucket/run/", listed_names: 12000 });
  assert.match(workText(listed), /^listing gs:\/\/bucket\/run\/, 12.000 names$/);
});

test("of the requests of this page the one that waits longest is told", () => {
  const rows = [
    row({ request: "/api/v1/modules?session=a", path: "a", waited_ms: 400 }),
    row({ request: "/api/v1/memory_view?session=a", path: "b", waited_ms: 900 }),
    row({ request: "/api/v1/memory_view?session=z", path: "c", waited_ms: 5000 }),
    row({ request: "/api/v1/sessions", path: "", waited_ms: 9000 }),
  ];
  const ours = ["memory_view?session=a", "modules?session=a", "sessions"].map((one) => `/proxy/6006/api/v1/${one}`);
  assert.equal(longestWait(rows, ours)?.path, "b");
  assert.equal(longestWait(rows, []), null);
});
