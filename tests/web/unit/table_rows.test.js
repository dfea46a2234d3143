import { test } from "node:test";
import assert from "node:assert/strict";
import { buildModel } from "../../../web/js/tools/memory_viewer/data/model.js";
import { csvText } from "../../../web/js/base/csv.js";
import { parseSort, sortRows, sortText } from "../../../web/js/base/sorting.js";
import { bufferColumns, savedColumns } from "../../../web/js/tools/memory_viewer/data/table_rows.js";
import { sampleView } from "./sample_view.js";

const model = buildModel(sampleView());
const columns = bufferColumns(model);
const sortOf = (word) => parseSort(word, columns, "size");
const sorted = (word) => sortRows(Uint32Array.from([0, 1, 2, 3, 4, 5]), columns, sortOf(word));

test("sorting: size falls, text rises, equal ones stay in program order, unknown ones come last", () => {
  assert.deepEqual(sorted(null), [0, 4, 3, 1, 5, 2]);
  assert.deepEqual(sorted("size-asc"), [2, 1, 5, 3, 0, 4]);
  assert.deepEqual(sorted("name"), [2, 0, 1, 3, 4, 5]);
  assert.equal(sorted("expansion").at(-1), 5);
  assert.equal(sorted("expansion-asc").at(-1), 5);
});

test("a sort survives the address, and nonsense is the default", () => {
  const word = (text) => sortText(sortOf(text), columns, "size");
  for (const text of ["name", "name-desc", "padding", "padding-asc", "size-asc"]) assert.equal(word(text), text);
  assert.equal(word("nonsense"), null);
});

test("CSV: exact bytes, quoted where needed, empty where unknown", () => {
  const view = sampleView();
  view.strings[3] = 'odd "name", with comma';
  const lines = csvText(savedColumns(buildModel(view)), [4, 5]).split("\n");
  assert.equal(
    lines[0],
    "InstructionName,AllocationType,SizeBytes,PaddingBytes,Source,OpName,Shape," +
      "UnpaddedSizeBytes,Expansion,AllocAt,FreeAt," +
      "OpCode,BufferId,Allocation,OffsetBytes",
  );
  assert.match(lines[1], /^t2,Temporary,60,5,a\.py:1,jit\(f\)\/add,f32\[10\],55,1\.09/);
  assert.match(lines[2], /^"odd ""name"", with comma",Temporary,30,0,,,f32\[10\],,,3,5,/);
});
