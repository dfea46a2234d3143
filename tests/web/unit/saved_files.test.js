// What tables and charts become as files: JSON and SVG.
import { test } from "node:test";
import assert from "node:assert/strict";
import { jsonText, memberName } from "../../../web/js/base/table_file.js";
import {
  attributesText,
  colorParts,
  createSvgContext,
  fontOf,
  TooManyMarks,
  xmlText,
} from "../../../web/js/base/picture/svg_context.js";

const COLUMNS = [
  { csv: "InstructionName", value: (row) => row.name },
  { key: "bar", value: () => "not in a file" },
  { csv: "SizeBytes", value: (row) => row.size },
];

test("a table as JSON keeps bytes as whole numbers and unknown values as null", () => {
  const rows = [
    { name: 'a "b"\n', size: 2 ** 43 + 1 },
    { name: "c", size: NaN },
    { name: "", size: null },
  ];
  const about = { table: "live buffers", from: ["run", "jit_f"] };
  const { table, from, rows: read } = JSON.parse(jsonText(about, COLUMNS, rows));
  assert.deepEqual([table, from], ["live buffers", ["run", "jit_f"]]);
  assert.deepEqual(read[0], { instruction_name: 'a "b"\n', size_bytes: 8796093022209 });
  assert.deepEqual(read[1], { instruction_name: "c", size_bytes: null });
  assert.deepEqual(read[2], { instruction_name: null, size_bytes: null });
  assert.deepEqual(JSON.parse(jsonText({ table: "t", from: [] }, COLUMNS, [])).rows, []);
});

test("members are named as the API names them", () => {
  assert.equal(memberName("UnpaddedSizeBytes"), "unpadded_size_bytes");
  assert.equal(memberName("a_bytes"), "a_bytes");
  assert.equal(memberName("Step 3"), "step_3");
});

const measure = {
  font: "",
  fillStyle: "",
  measureText: (text) => ({ width: 6 * text.length, fontBoundingBoxAscent: 10, fontBoundingBoxDescent: 2 }),
};
const recorder = (mostMarks = 100) => createSvgContext(measure, { id: "c", mostMarks });

test("a painter's calls become marks with colours, dashes and transforms", () => {
  const { context, text } = recorder();
  context.fillStyle = "rgba(43, 54, 64, 0.5)";
  context.globalAlpha = 0.5;
  context.fillRect(1.004, 2, -3, 4);
  context.globalAlpha = 1;
  context.strokeStyle = "#ff0000";
  context.setLineDash([4, 3]);
  context.beginPath();
  context.moveTo(0, 0);
  context.lineTo(5, 6.126);
  context.stroke();
  context.translate(10, 20);
  context.rotate(-Math.PI / 2);
  context.font = "600 11px system-ui";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText("a<b", 0, 0);
  assert.deepEqual(text().split("\n"), [
    '<rect x="-2" y="2" width="3" height="4" fill="#2b3640" fill-opacity="0.25"></rect>',
    '<path d="M0 0L5 6.13" fill="none" stroke="#ff0000" stroke-width="1" stroke-dasharray="4 3"></path>',
    '<text x="0" y="4" text-anchor="middle" font-size="11" font-family="system-ui" font-weight="600" fill="#2b3640" ' +
      'fill-opacity="0.5" transform="matrix(0 -1 1 0 10 20)">a&lt;b</text>',
  ]);
});

test("a clip lasts until the state before it is restored", () => {
  const { context, text } = recorder();
  context.fillStyle = "#00ff00";
  context.save();
  context.beginPath();
  context.rect(0, 0, 5, 5);
  context.clip();
  context.fillStyle = "#0000ff";
  context.fillRect(0, 0, 9, 9);
  context.restore();
  context.fillRect(1, 1, 1, 1);
  const written = text();
  assert.match(written, /<clipPath id="c-1"><path d="M0 0h5v5h-5z"\/><\/clipPath><g clip-path="url\(#c-1\)">/);
  const order = ["#0000ff", "</g>", "#00ff00"].map((part) => written.indexOf(part));
  assert.deepEqual(order, order.toSorted((a, b) => a - b));
});

test("marks without end are refused", () => {
  const { context } = recorder(3);
  for (let i = 0; i < 3; i += 1) context.fillRect(i, 0, 1, 1);
  assert.throws(() => context.fillRect(3, 0, 1, 1), TooManyMarks);
});

test("names of any kind leave the file XML", () => {
  assert.equal(xmlText("<&>\"\u0000\u0007\ud800x"), "&lt;&amp;&gt;&quot;\ufffd\ufffd\ufffdx");
  assert.equal(attributesText({ a: 'b"c', none: null }), ' a="b&quot;c"');
  assert.deepEqual(fontOf("400 11px system-ui, sans-serif"), {
    "font-size": "11",
    "font-family": "system-ui, sans-serif",
    "font-weight": null,
  });
  assert.deepEqual(colorParts("rgba(0, 128, 255, 0.09)"), { color: "#0080ff", alpha: "0.09" });
});
