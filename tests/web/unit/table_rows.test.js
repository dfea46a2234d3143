import { test } from "node:test";
import assert from "node:assert/strict";
import { buildModel } from "../../../web/js/tools/memory_viewer/data/model.js";
import { arrangeRows, parseSort, sortText, toCsv } from "../../../web/js/tools/memory_viewer/data/table_rows.js";
import { sampleView } from "./sample_view.js";

const model = buildModel(sampleView());
const all = Uint32Array.from([0, 1, 2, 3, 4, 5]);

test("sorting: size falls, text rises, equal ones stay in program order, unknown ones come last", () => {
  assert.deepEqual([...arrangeRows(model, all, parseSort(null), null)], [0, 4, 3, 1, 5, 2]);
  assert.deepEqual([...arrangeRows(model, all, parseSort("size-asc"), null)], [2, 1, 5, 3, 0, 4]);
  assert.deepEqual([...arrangeRows(model, all, parseSort("name"), null)], [2, 0, 1, 3, 4, 5]);
  assert.equal(arrangeRows(model, all, parseSort("expansion"), null).at(-1), 5);
  assert.equal(arrangeRows(model, all, parseSort("expansion-asc"), null).at(-1), 5);
});

test("the filter leaves its rows", () => {
  assert.deepEqual([...arrangeRows(model, all, parseSort(null), Uint8Array.from([0, 1, 0, 1, 0, 0]))], [3, 1]);
});

test("a sort survives the address, and nonsense is the default", () => {
  for (const text of ["name", "name-desc", "padding", "padding-asc"]) assert.equal(sortText(parseSort(text)), text);
  assert.equal(sortText(parseSort("nonsense")), null);
  assert.equal(sortText(parseSort("size-asc")), "size-asc");
});

test("CSV: exact bytes, quoted where needed, empty where unknown", () => {
  const view = sampleView();
  view.strings[3] = 'odd "name", with comma';
  const lines = toCsv(buildModel(view), [4, 5]).split("\n");
  assert.equal(
    lines[0],
    "InstructionName,AllocationType,SizeBytes,PaddingBytes,Source,OpName,Shape," +
      "UnpaddedSizeBytes,Expansion,AllocAt,FreeAt," +
      "OpCode,BufferId,Allocation,OffsetBytes",
  );
  assert.match(lines[1], /^t2,Temporary,60,5,a\.py:1,jit\(f\)\/add,f32\[10\],55,1\.09/);
  assert.match(lines[2], /^"odd ""name"", with comma",Temporary,30,0,,,f32\[10\],,,3,5,/);
});
