// @ts-check
// The server tells a list as columns, its texts as places in one list of strings. Here it becomes rows again. Pure.

/**
 *     {op: [1, 0], size_bytes: [8, 4]}, ["mul", "add"]  ->  [{op: "add", size_bytes: 8}, {op: "mul", size_bytes: 4}]
 *
 * Members have the names of the API (docs/api.md).
 * @param {Record<string, any>} columns what is no list belongs to no row
 * @param {string[]} strings @param {string[]} texts the columns that hold places in them
 * @returns {any[]}
 */
export function rowsOf(columns, strings = [], texts = []) {
  const lists = Object.entries(columns).filter(([, values]) => Array.isArray(values) && values !== strings);
  return lists[0][1].map((_, i) =>
    Object.fromEntries(lists.map(([key, values]) => [key, texts.includes(key) ? strings[values[i]] : values[i]])),
  );
}
