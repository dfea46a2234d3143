// @ts-check
/**
 * Tables as JSON: an object a row, its members named as the API names them, sizes in bytes. A column is that of csv.js.
 * Pure.
 *
 *     {"table": "live buffers", "from": ["v5e_gpt_12layer", "jit_train_step(1)"],
 *      "rows": [{"instruction_name": "fusion.7", "size_bytes": 402653184}, ...]}
 */

/** @param {{table: string, from: string[]}} about @param {ArrayLike<any>} rows */
export function jsonText(about, columns, rows) {
  const named = columns.filter(({ csv }) => csv).map(({ csv, value }) => ({ name: memberName(csv), value }));
  const objects = Array.from(rows, (row) =>
    Object.fromEntries(named.map(({ name, value }) => [name, plain(value(row))])),
  );
  const lines = objects.map((one) => `    ${JSON.stringify(one)}`);
  const { table, from } = about;
  const head = `  "table": ${JSON.stringify(table)},\n  "from": ${JSON.stringify(from)},\n`;
  return `{\n${head}  "rows": [${lines.length ? `\n${lines.join(",\n")}\n  ` : ""}]\n}\n`;
}

/** "SizeBytes" -> "size_bytes", "OpName" -> "op_name"; what has that form already stays. */
export function memberName(csv) {
  return csv
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
}

/** What JSON has no word for is null: unknown. */
function plain(value) {
  return value === undefined || value === "" || (typeof value === "number" && !Number.isFinite(value)) ? null : value;
}
