// @ts-check
/**
 * A table of any number of rows, of which only those in sight are in the DOM. All rows are equally high.
 *
 *     head                 column buttons that sort
 *     ------------------   spacer: rows above
 *     row 117              tr[data-row], one in reach of Tab, the arrow keys go on from it
 *     row 118
 *     ------------------   spacer: rows below
 *
 * The table knows no data. Its source tells it the rows:
 *     count()                     how many
 *     id(index)                   what stands for the row in marks and focus; stays when rows move
 *     fill(cell, column, index)   puts the content of one cell
 *     decorate(tr, index)         optional: classes and attributes of a row
 */
import { columnsIn } from "./column.js";
import { el, setChildren } from "./dom.js";
import { requestFrame } from "./frame.js";

export const ROW_HEIGHT = 22;
const SPARE_ROWS = 6;
const HEIGHT_BEFORE_LAYOUT = 300;

/**
 * @param {any} source
 * @param {{label: string, columns: import("./column.js").Column[], className?: string, minWidth?: number,
 *          role?: string, onSort?: (column: any) => void, onOpen?: (index: number, event: Event) => void,
 *          onHover?: (index: number | null) => void,
 *          onKey?: (event: KeyboardEvent, index: number) => boolean | number}} options `onKey` comes before the
 *     table's own keys: true when it took the key, a number to move the focus to that row
 */
export function createRowGrid(source, options) {
  const { label, className = "", minWidth = 0, role = "grid", onSort, onOpen, onHover, onKey } = options;
  const head = el("tr");
  const body = el("tbody");
  const table = el(
    "table",
    { class: `row-grid ${className}`, role, "aria-label": label },
    el("thead", {}, head),
    body,
  );
  table.style.minWidth = `${minWidth}px`;
  const node = el("div", { class: "table-scroll", on: { scroll: () => requestFrame(showRows) } }, table);
  let shown = "";
  let restsAt = null; // the place of a mouse that a key took over from: rows that scroll under it are not hovered
  let mouseAt = null;
  let marks = { hover: null, selected: null };
  /** @type {any[]} those with room, each with its width */
  let columns = [];
  let sort = null;
  let firstShown = 0;

  /** The rows or what they hold have changed. */
  function reset() {
    table.setAttribute("aria-rowcount", String(source.count() + 1));
    shown = "";
    showRows();
  }

  function showSort(now) {
    sort = now;
    columns = columnsIn(options.columns, node.clientWidth || Infinity);
    head.replaceChildren(...columns.map((column) => headCell(column, sort, onSort)));
  }

  function fitColumns() {
    if (widthsOf(columnsIn(options.columns, node.clientWidth || Infinity)) === widthsOf(columns)) return;
    showSort(sort);
    shown = "";
  }

  function showRows() {
    fitColumns();
    const count = source.count();
    const fitting = Math.ceil((node.clientHeight || HEIGHT_BEFORE_LAYOUT) / ROW_HEIGHT) + 1;
    const top = Math.max(0, Math.min(Math.floor(node.scrollTop / ROW_HEIGHT), count - fitting));
    const first = Math.max(0, top - SPARE_ROWS);
    const last = Math.min(count, top + fitting + SPARE_ROWS);
    const key = `${first} ${last} ${count}`;
    if (key !== shown) fill(first, last, count);
    shown = key;
    markRows();
  }

  function fill(first, last, count) {
    const focused = document.activeElement?.closest("tr[data-row]");
    const held = focused && body.contains(focused) ? focused.getAttribute("data-row") : null;
    const before = new Map(rowNodes().map((row) => [row.dataset.row, row]));
    const rows = [];
    for (let i = first; i < last; i += 1) {
      const row = rowNode(i, i === first);
      rows.push(keepEqual(before.get(row.dataset.row), row));
    }
    firstShown = first;
    setChildren(body, [spacer(first), ...rows, spacer(count - last)]);
    if (held !== null) rowWithId(held)?.focus({ preventScroll: true });
  }

  /** Tab enters the table at the first row there is; the arrow keys go on from it. */
  function rowNode(index, isFirst) {
    const row = el("tr", { data: { row: source.id(index) }, tabindex: isFirst ? 0 : -1, "aria-rowindex": index + 2 });
    for (const column of columns) {
      const cell = el("td", { class: `col-${column.key} kind-${column.kind}` });
      source.fill(cell, column, index);
      row.append(cell);
    }
    source.decorate?.(row, index);
    return row;
  }

  const rowWithId = (id) => body.querySelector(`tr[data-row="${CSS.escape(String(id))}"]`);

  function mark(next) {
    marks = { ...marks, ...next };
    markRows();
  }

  const rowNodes = () => /** @type {HTMLElement[]} */ ([...body.querySelectorAll("tr[data-row]")]);
  const markRows = () => rowNodes().forEach(markRow);

  function markRow(row) {
    const id = row.dataset.row;
    row.classList.toggle("hover", marks.hover !== null && id === String(marks.hover));
    row.setAttribute("aria-selected", String(marks.selected !== null && id === String(marks.selected)));
  }

  /** The row that stands already, where it tells the same: moving on by a step changes few rows, and layout is dear. */
  function keepEqual(old, row) {
    markRow(row);
    if (!old) return row;
    for (const place of ["aria-rowindex", "tabindex"]) old.setAttribute(place, row.getAttribute(place));
    const hasState = old.querySelector("input") !== null; // that no attribute tells
    return !hasState && old.isEqualNode(row) ? old : row;
  }

  function indexOf(event) {
    const row = event.target instanceof Element ? event.target.closest("tr[data-row]") : null;
    return row ? Number(row.getAttribute("aria-rowindex")) - 2 : null;
  }

  function reveal(index) {
    const top = index * ROW_HEIGHT;
    if (top < node.scrollTop) node.scrollTop = top;
    if (top + 2 * ROW_HEIGHT > node.scrollTop + node.clientHeight)
      node.scrollTop = top + 2 * ROW_HEIGHT - node.clientHeight;
    showRows();
  }

  function focusIndex(wanted) {
    const index = Math.max(0, Math.min(source.count() - 1, wanted));
    if (source.count() === 0) return;
    reveal(index);
    rowWithId(source.id(index))?.focus({ preventScroll: true });
  }

  function onKeyDown(event) {
    const index = indexOf(event);
    if (index === null || event.ctrlKey || event.metaKey || event.altKey) return;
    const taken = onKey?.(event, index) ?? false;
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -index, End: source.count() };
    if (typeof taken === "number") focusIndex(taken);
    else if (!taken && event.key in moves) focusIndex(index + moves[event.key]);
    else if (!taken && (event.key === "Enter" || event.key === " ")) onOpen?.(index, event);
    else if (!taken) return;
    restsAt = mouseAt;
    event.preventDefault();
  }

  function onPointer(event) {
    mouseAt = `${event.clientX} ${event.clientY}`;
    if (mouseAt === restsAt) return;
    restsAt = null;
    onHover?.(indexOf(event));
  }

  body.addEventListener("pointerover", onPointer);
  body.addEventListener("pointerleave", () => onHover?.(null));
  body.addEventListener("focusin", (event) => onHover?.(indexOf(event)));
  body.addEventListener("focusout", () => onHover?.(null));
  body.addEventListener("click", (event) => {
    const index = indexOf(event);
    if (index !== null && !String(getSelection())) onOpen?.(index, event);
  });
  body.addEventListener("keydown", onKeyDown);
  const observer = new ResizeObserver(() => requestFrame(showRows)); // it has its height only once it has rows
  observer.observe(node);
  return {
    node,
    reset,
    showSort,
    mark,
    reveal,
    firstShown: () => firstShown,
    dispose: () => observer.disconnect(),
  };
}

const widthsOf = (columns) => columns.map(({ key, width }) => `${key} ${width}`).join();

function headCell(column, sort, onSort) {
  const sorted = sort?.key === column.key;
  const sign = sorted ? (sort.descending ? " ▾" : " ▴") : "";
  const text = `${column.label}${sign}`;
  const options = { class: "sort", title: column.title ?? null, data: { sort: column.key } };
  const cell = el(
    "th",
    {
      scope: "col",
      class: `col-${column.key} kind-${column.kind}`,
      "aria-sort": sorted ? (sort.descending ? "descending" : "ascending") : null,
    },
    onSort && !column.fixed
      ? el("button", { type: "button", ...options, on: { click: () => onSort(column) } }, text)
      : el("span", options, text),
  );
  cell.style.width = typeof column.width === "number" ? `${column.width}px` : (column.width ?? "");
  return cell;
}

function spacer(rows) {
  const node = el("tr", { class: "spacer", "aria-hidden": "true" }, el("td"));
  node.style.height = `${rows * ROW_HEIGHT}px`;
  node.hidden = rows === 0;
  return node;
}
