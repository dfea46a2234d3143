// @ts-check
// The live buffers as a table: sortable, filtered by the page's search, as CSV. Only the rows in sight are in the DOM.
import { el, setText } from "../../../base/dom.js";
import { formatSize, groupDigits, pickUnit, plural } from "../../../base/format.js";
import { sizeFigure } from "../../../base/figures.js";
import { copyButton } from "../../../base/clipboard.js";
import { requestFrame } from "../../../base/frame.js";
import { categoryOf } from "../data/categories.js";
import { sumOf } from "../data/live.js";
import { COLUMNS, arrangeRows, shortSource, toCsv } from "../data/table_rows.js";

const ROW_HEIGHT = 22;
const SPARE_ROWS = 6;
const GIB = 2 ** 30;
const KEYS_OWN_MS = 300; // rows that a key scrolls under a resting mouse are not hovered

export function createTable(state) {
  const { model } = state;
  const count = el("span", { class: "facts", id: "table-count" });
  const csv = copyButton(() => toCsv(model, arranged), {
    label: "Copy as CSV",
    title: "copy these rows, all columns, exact bytes, as CSV",
    className: "quiet small",
  });
  const head = el("tr");
  const body = el("tbody");
  const table = el(
    "table",
    { class: "buffers", role: "grid", "aria-label": "live buffers" },
    el("thead", {}, head),
    body,
  );
  const none = el("p", { class: "note", hidden: true });
  const scroller = el("div", { class: "table-scroll", on: { scroll: () => requestFrame(showRows) } }, table);
  const node = el(
    "section",
    { class: "chart" },
    el("div", { class: "chart-head" }, el("h2", {}, "Live buffers"), count, csv),
    scroller,
    none,
  );
  /** @type {Uint32Array<ArrayBufferLike>} */
  let arranged = new Uint32Array(0);
  let units = {};
  let shown = "";
  let keyedAt = -Infinity;

  function arrange() {
    const { rows, sort, flags, unit } = state.get();
    arranged = arrangeRows(model, rows, sort, flags);
    units = columnUnits(model, rows, unit);
    const of = arranged.length === rows.length ? "" : ` of ${groupDigits(rows.length)}`;
    setText(
      count,
      `${groupDigits(arranged.length)}${of} ${rows.length === 1 ? "buffer" : "buffers"}, ` +
        formatSize(sumOf(model.size, arranged), unit),
    );
    none.hidden = arranged.length > 0 || rows.length === 0;
    setText(none, `None of the ${plural(rows.length, "buffer")} live at this step matches the search.`);
    table.setAttribute("aria-rowcount", String(arranged.length + 1));
    showHead();
    shown = "";
    showRows();
  }

  function showHead() {
    const { sort } = state.get();
    head.replaceChildren(...COLUMNS.map((column) => headCell(column, sort, () => sortBy(column))));
  }

  function sortBy(column) {
    const { sort } = state.get();
    const first = column.kind === "size" || column.kind === "ratio";
    state.actions.sortBy({ key: column.key, descending: sort.key === column.key ? !sort.descending : first });
  }

  function showRows() {
    const first = Math.max(0, Math.floor(scroller.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const fitting = Math.ceil((scroller.clientHeight || 300) / ROW_HEIGHT) + 2 * SPARE_ROWS;
    const last = Math.min(arranged.length, first + fitting);
    const key = `${first} ${last} ${arranged.length}`;
    if (key !== shown) fill(first, last);
    shown = key;
    markRows();
  }

  function fill(first, last) {
    const focused = document.activeElement?.closest("tr[data-row]")?.getAttribute("data-row");
    const rows = [];
    for (let i = first; i < last; i += 1) rows.push(rowNode(model, arranged[i], units, i, i === first));
    body.replaceChildren(spacer(first), ...rows, spacer(arranged.length - last));
    if (focused) body.querySelector(`tr[data-row="${focused}"]`)?.focus({ preventScroll: true });
  }

  function markRows() {
    const { hover, pinned } = state.get();
    for (const row of body.querySelectorAll("tr[data-row]")) {
      const number = Number(row.getAttribute("data-row"));
      row.classList.toggle("hover", number === hover);
      row.setAttribute("aria-selected", String(number === pinned));
    }
  }

  function rowOf(event) {
    const row = event.target instanceof Element ? event.target.closest("tr[data-row]") : null;
    return row ? Number(row.getAttribute("data-row")) : null;
  }

  function focusRow(index) {
    if (index < 0 || index >= arranged.length) return;
    const top = index * ROW_HEIGHT;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + 2 * ROW_HEIGHT > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = top + 2 * ROW_HEIGHT - scroller.clientHeight;
    showRows();
    body.querySelector(`tr[data-row="${arranged[index]}"]`)?.focus({ preventScroll: true });
  }

  function onKeyDown(event) {
    const row = rowOf(event);
    if (row === null) return;
    const index = arranged.indexOf(row);
    const moves = {
      ArrowDown: 1,
      ArrowUp: -1,
      PageDown: 10,
      PageUp: -10,
      Home: -index,
      End: arranged.length - 1 - index,
    };
    if (event.key in moves) focusRow(Math.max(0, Math.min(arranged.length - 1, index + moves[event.key])));
    else if (event.key === "Enter" || event.key === " ") state.actions.pinRow(row);
    else return;
    keyedAt = event.timeStamp;
    event.preventDefault();
  }

  body.addEventListener("pointerover", (event) => {
    if (event.timeStamp - keyedAt > KEYS_OWN_MS) state.actions.hoverRow(rowOf(event));
  });
  body.addEventListener("pointerleave", () => state.actions.hoverRow(null));
  body.addEventListener("click", (event) => {
    const row = rowOf(event);
    if (row !== null && !String(getSelection())) state.actions.pinRow(row);
  });
  body.addEventListener("focusin", (event) => state.actions.hoverRow(rowOf(event)));
  body.addEventListener("focusout", () => state.actions.hoverRow(null));
  body.addEventListener("keydown", onKeyDown);
  const observer = new ResizeObserver(() => requestFrame(showRows)); // it has its height only once it has rows
  observer.observe(scroller);
  const stops = [
    state.watch(["rows", "sort", "flags", "unit"], () => requestFrame(arrange)),
    state.watch(["hover", "pinned"], () => requestFrame(markRows)),
  ];
  return {
    node,
    start: arrange,
    redraw: arrange,
    dispose() {
      observer.disconnect();
      stops.forEach((stop) => stop());
    },
  };
}

/** One unit per column of sizes: with automatic units at most MiB, since most rows are small. */
function columnUnits(model, rows, mode) {
  const units = {};
  for (const column of COLUMNS.filter((one) => one.kind === "size")) {
    let largest = 0;
    for (const row of rows) largest = Math.max(largest, column.value(model, row) ?? 0);
    units[column.key] = mode === "auto" && largest >= GIB ? pickUnit(largest, "MiB") : pickUnit(largest, mode);
  }
  return units;
}

function headCell(column, sort, onSort) {
  const sorted = sort.key === column.key;
  const sign = sorted ? (sort.descending ? " ▾" : " ▴") : "";
  return el(
    "th",
    {
      scope: "col",
      class: `col-${column.key} kind-${column.kind}`,
      "aria-sort": sorted ? (sort.descending ? "descending" : "ascending") : null,
    },
    el(
      "button",
      { type: "button", class: "sort", on: { click: onSort }, data: { sort: column.key } },
      `${column.label}${sign}`,
    ),
  );
}

/** Tab enters the table at the first row there is; the arrow keys go on from it. */
function rowNode(model, row, units, index, isFirst) {
  return el(
    "tr",
    { data: { row }, tabindex: isFirst ? 0 : -1, "aria-rowindex": index + 2 },
    ...COLUMNS.map((column) => cell(model, row, column, units)),
  );
}

function cell(model, row, column, units) {
  const value = column.value(model, row);
  const node = el("td", { class: `col-${column.key} kind-${column.kind}` });
  if (value === null || value === "" || (value === 0 && column.key === "padding")) return node;
  node.append(...CONTENT[column.kind](value, { model, row, unit: units[column.key] }));
  if (column.kind === "text" || column.kind === "source") node.title = value;
  return node;
}

/** What a cell of each kind holds. */
const CONTENT = {
  size: (bytes, { unit }) => [sizeFigure(bytes, "auto", unit)],
  ratio: (ratio) => [el("span", { class: "figure" }, ratio.toFixed(2), el("span", { class: "unit" }, " ×"))],
  category: (label, { model, row }) => [
    el("span", { class: `swatch cat-${categoryOf(model.category[row]).key}` }),
    label,
  ],
  number: (value) => [groupDigits(value)],
  source: (source) => [shortSource(source)],
  text: (text) => [text],
};

function spacer(rows) {
  const node = el("tr", { class: "spacer", "aria-hidden": "true" }, el("td"));
  node.style.height = `${rows * ROW_HEIGHT}px`;
  node.hidden = rows === 0;
  return node;
}
