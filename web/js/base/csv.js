// @ts-check
// Tables as CSV (RFC 4180, lines end in \n): a column is {csv, value(row)}; unknown values are empty fields.

export function csvText(columns, rows) {
  const lines = [csvLine(columns.map((column) => column.csv))];
  for (const row of rows) lines.push(csvLine(columns.map((column) => column.value(row))));
  return `${lines.join("\n")}\n`;
}

export function csvLine(values) {
  return values.map(csvField).join(",");
}

function csvField(value) {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
