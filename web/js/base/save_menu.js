// @ts-check
/**
 * "save ▾" on the title line of a chart or a table: as PNG or SVG, as CSV or JSON. One for all of them.
 *
 *     what      names it in the file's name: "curve", "live buffers"; `from` what it is of (the address' words without)
 *     picture   what is pictured; without it there is no picture
 *     table     {columns(), rows()}: rows may come later; null when there is nothing to save, and somebody said why
 * @typedef {{columns: () => any[], rows: () => ArrayLike<any> | null | Promise<ArrayLike<any> | null>}} Table
 * @typedef {{what: string, from?: () => string[], picture?: () => Element, table?: Table}} Saves
 */
import { copyButton } from "./clipboard.js";
import { csvText } from "./csv.js";
import { button, el, setText } from "./dom.js";
import { fileName, saveText } from "./save_file.js";
import { jsonText } from "./table_file.js";
import { viewParts } from "./view_file.js";

const SAID_MS = 1500;

/** @param {Saves} saves */
export function saveMenu({ what, from = viewParts, picture, table }) {
  const said = el("span", { class: "save-said", role: "status" });
  const summary = el("summary", { title: `Save ${what} as a file`, "aria-label": `Save ${what} as a file` }, "save");
  const choices = [
    ...(picture ? PICTURES : []).map(([kind, title]) =>
      choice(kind, title, () => drawn(picture?.(), { what, kind, from: from() })),
    ),
    ...(table ? TABLES : []).map(([kind, title, save]) =>
      choice(kind, title, () => save(table, { what, from: from() })),
    ),
  ];
  const node = el("details", { class: "save-menu" }, summary, el("div", {}, ...choices, said));

  function choice(kind, title, save) {
    return button(kind.toUpperCase(), () => run(save), { class: `quiet small ${kind}`, title, "aria-label": title });
  }

  /** It closes when there is nothing more to say. */
  async function run(save) {
    setText(said, "");
    try {
      const words = await save();
      setText(said, words ?? "");
      if (words === "") close();
    } catch (error) {
      setText(said, error.message);
    }
  }

  function close() {
    const isInside = node.contains(document.activeElement);
    node.open = false;
    if (isInside) summary.focus();
    setText(summary, "saved");
    setTimeout(() => setText(summary, "save"), SAID_MS);
  }

  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !node.open) return;
    event.stopPropagation();
    node.open = false;
    summary.focus();
  });
  node.addEventListener("focusout", (event) => {
    if (event.relatedTarget && !node.contains(event.relatedTarget)) node.open = false;
  });
  node.addEventListener("toggle", () => setText(said, ""));
  return node;
}

const PICTURES = [
  ["png", "as PNG: the picture at this screen's pixels"],
  ["svg", "as SVG: vectors, for papers and slides"],
];

/** @type {[string, string, (table: Table, file: any) => Promise<string | null>][]} */
const TABLES = [
  ["csv", "as CSV: all rows shown, all columns, exact figures", saveCsv],
  ["json", "as JSON: all rows shown, sizes in bytes", saveJson],
];

async function drawn(root, file) {
  const { savePicture } = await import("./picture/save_picture.js");
  return savePicture(root, file);
}

/** @param {Table} table */
async function saveCsv(table, { what, from }) {
  const rows = await table.rows();
  if (rows === null) return null;
  saveText(fileName(...from, `${what}.csv`), csvText(table.columns(), rows));
  return "";
}

/** @param {Table} table */
async function saveJson(table, { what, from }) {
  const rows = await table.rows();
  if (rows === null) return null;
  const text = jsonText({ table: what, from }, table.columns(), rows);
  saveText(fileName(...from, `${what}.json`), text, "application/json");
  return "";
}

/**
 * What stands beside the title of a table: a button that copies it, and the menu.
 * @param {Saves & {table: Table}} saves
 */
export function tableTools(saves, title) {
  const { columns, rows } = saves.table;
  const copy = copyButton(async () => csvText(columns(), (await rows()) ?? []), {
    label: "Copy as CSV",
    title,
    className: "quiet small",
  });
  return [copy, saveMenu(saves)];
}
