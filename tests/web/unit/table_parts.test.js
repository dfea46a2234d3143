import { test } from "node:test";
import assert from "node:assert/strict";
import { unitsOf } from "../../../web/js/base/cells.js";
import { column, columnsIn } from "../../../web/js/base/column.js";
import { csvText } from "../../../web/js/base/csv.js";
import { formatDuration, formatMs, msDigits } from "../../../web/js/base/time_text.js";
import { parseSort, sortAfterClick, sortRows, sortText } from "../../../web/js/base/sorting.js";
import { pickColumnUnit } from "../../../web/js/base/format.js";

const columns = [
  { key: "name", kind: "text", csv: "Name", value: (row) => row.name },
  { key: "bytes", kind: "size", csv: "Bytes", value: (row) => row.bytes },
];

test("figures start with the largest, texts with the first; a second click turns the order", () => {
  const sort = parseSort("name", columns, "bytes");
  assert.deepEqual(sort, { key: "name", descending: false });
  assert.deepEqual(sortAfterClick(sort, columns[1]), { key: "bytes", descending: true });
  assert.deepEqual(sortAfterClick({ key: "bytes", descending: true }, columns[1]), {
    key: "bytes",
    descending: false,
  });
});

test("a sort that another table left in the address is this table's usual one", () => {
  assert.deepEqual(parseSort("slope-asc", [columns[1]], "bytes").key, "bytes");
  assert.equal(sortText({ key: "bytes", descending: true }, columns, "bytes"), null);
  assert.equal(sortText({ key: "bytes", descending: false }, columns, "bytes"), "bytes-asc");
});

test("equal rows keep their order and the list itself is not touched", () => {
  const rows = [{ bytes: 1, name: "x" }, { bytes: null }, { bytes: 1, name: "y" }, { bytes: 2 }];
  const sorted = sortRows(rows, columns, { key: "bytes", descending: true });
  assert.deepEqual(
    sorted.map((row) => rows.indexOf(row)),
    [3, 0, 2, 1],
  );
  assert.equal(rows[0].name, "x");
});

test("what is not known comes last, wherever it stood and in either direction", () => {
  const rows = [null, 2, null, 1].map((bytes) => ({ bytes }));
  const sorted = (descending) => sortRows(rows, columns, { key: "bytes", descending }).map((row) => row.bytes);
  assert.deepEqual(
    [sorted(true), sorted(false)],
    [
      [2, 1, null, null],
      [1, 2, null, null],
    ],
  );
});

test("a column is narrow, or not there at all, in a table under its limit", () => {
  const of = (width) => column("k", "K", "size", () => 1, { width });
  const widths = (room) => columnsIn([of(80), of([110, 1250, 92]), of([70, 1250, 0]), of(undefined)], room);
  assert.deepEqual(
    widths(1250).map((one) => one.width),
    [80, 110, 70, undefined],
  );
  assert.deepEqual(
    widths(1249).map((one) => one.width),
    [80, 92, undefined],
  );
});

test("columns of one scale share the unit of their largest value, others have their own", () => {
  const of = (key, more) => column(key, key, "size", (row) => row[key], more);
  const sizes = [of("a", { scale: "held" }), of("b", { scale: "held" }), of("c")];
  const units = unitsOf(sizes, [{ a: 2 ** 21, b: 3, c: 3 }], "auto");
  assert.deepEqual([units.a.name, units.b.name, units.c.name], ["MiB", "MiB", "B"]);
});

test("CSV quotes what needs it and leaves the unknown empty", () => {
  assert.equal(csvText(columns, [{ name: 'a "b", c', bytes: null }]), 'Name,Bytes\n"a ""b"", c",\n');
});

test("times: moments in ms, durations in their own unit, ticks with the decimals they need", () => {
  assert.equal(formatMs(1234567890123, 3), "1\u202f234.568 ms");
  assert.equal(formatMs(-1e6, 3), "-0.001 ms");
  assert.equal(formatMs(-1, 3), "0.000 ms");
  assert.equal(formatDuration(1.5e12), "1.50 s");
  assert.equal(formatDuration(820e3), "820 ns");
  assert.equal(formatDuration(0), "0 ps");
  assert.deepEqual([1e10, 1e9, 5e8, 1e6, 1].map(msDigits), [0, 0, 1, 3, 9]);
});

test("a column of many sizes is in MiB while the largest reads well, since most rows are small", () => {
  assert.deepEqual(
    [2 ** 50, 2 ** 40, 200 * 2 ** 30, 6 * 2 ** 30, 2 ** 21, 2 ** 11, 5].map((bytes) => pickColumnUnit(bytes).name),
    ["TiB", "GiB", "GiB", "MiB", "MiB", "KiB", "B"],
  );
  assert.equal(pickColumnUnit(5, "GiB").name, "GiB");
});
