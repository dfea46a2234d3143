// @ts-check
// Tables as CSV (RFC 4180, lines end in \n): a column is {csv, value(row)}, one without `csv` is not in it; unknown
// values are empty fields.

export function csvText(all, rows) {
  const columns = all.filter(({ csv }) => csv);
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
