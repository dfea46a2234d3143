// @ts-check
/**
 * Hosts side by side: a bar for each peak, in order or highest first, and a sentence for each that differs. By mouse
 * and by keys: arrows go from bar to bar, Enter opens what is in hand.
 */
import { button, el, setText } from "../dom.js";
import { exactBytes, formatSize, plural } from "../format.js";
import { requestFrame } from "../frame.js";
import { drawnBy } from "../picture/drawn_by.js";
import { onResize } from "../upkeep.js";
import { barAt, barOf, layBars } from "./bars.js";
import { drawBars, GUTTERS } from "./painter.js";
import { acrossRows, comparedKinds, progressText, rowsOfKind } from "./rows.js";

const FEW_SENTENCES = 3;

/**
 * @param {{noun: string, onOpen: (row: import("./rows.js").Row) => void, isOpen: (row: any) => boolean,
 *          unit: () => string}} options `noun`: what the bars are, "host" or "file"
 */
export function createAcrossView({ noun, onOpen, isOpen, unit }) {
  const kinds = el("select", { "aria-label": "which memory", on: { change: () => choose(Number(kinds.value)) } });
  const order = button("Highest first", turn, { class: "small", "aria-pressed": "false" });
  const about = el("span", { class: "facts" });
  const waits = el("span", { class: "note", role: "status" });
  const canvas = el("canvas", { class: "across-canvas", role: "img", "aria-label": `peak of each ${noun}` });
  const area = el(
    "div",
    {
      class: "across-chart",
      tabindex: 0,
      role: "group",
      "aria-label": `peaks by ${noun}: arrows go from one to the next, Enter opens it`,
      on: { keydown: onKey, mousemove: onMove, mouseleave: () => hold(null), click: onClick, blur: () => hold(null) },
    },
    canvas,
  );
  const readout = el("p", { class: "across-readout", role: "status" });
  const list = el("ul", { class: "across-list" });
  const controls = el("div", { class: "panel-controls" }, kinds, order, about, waits);
  const node = el("div", { class: "across" }, controls, list, area, readout);
  let reply = /** @type {any} */ (null);
  /** @type {import("./rows.js").Row[]} */
  let all = [];
  /** @type {import("./rows.js").Row[]} */
  let rows = [];
  /** @type {any[]} */
  let bars = [];
  let kind = -1;
  let isByPeak = false;
  let isWhole = false; // all sentences are shown
  let hover = /** @type {number | null} */ (null);

  function show(now) {
    reply = now;
    all = acrossRows(reply);
    const shown = comparedKinds(reply);
    if (!shown.includes(kind)) kind = shown[0] ?? -1;
    kinds.hidden = shown.length < 2;
    kinds.replaceChildren(...shown.map((one) => el("option", { value: one }, reply.kinds[one].kind || "(no name)")));
    kinds.value = String(kind);
    setText(waits, progressText(reply, noun));
    arrange();
  }

  function choose(one) {
    kind = one;
    arrange();
  }

  function turn() {
    isByPeak = !isByPeak;
    order.setAttribute("aria-pressed", String(isByPeak));
    arrange();
  }

  function arrange() {
    const isEmpty = kind < 0;
    [area, readout, order].forEach((part) => (part.hidden = isEmpty));
    hover = null;
    rows = isEmpty ? [] : rowsOfKind(all, kind, isByPeak);
    setText(about, isEmpty ? nothingText() : reply.kinds[kind].text);
    showList();
    showReadout();
    requestFrame(draw);
  }

  function nothingText() {
    if (!reply.complete) return "";
    return `No two memories of a kind to compare in ${plural(reply.hosts, noun)}.`;
  }

  function showList() {
    const own = reply.differing.filter((one) => all[one.row].kind === kind);
    const few = isWhole ? own : own.slice(0, FEW_SENTENCES);
    const left = own.length - few.length;
    const more = button(`${left} more that differ`, showAll, { class: "small" });
    const faults = reply.unreadable.map((one) => el("li", { class: "error-line" }, `${one.host}: ${one.message}`));
    const alike = kind >= 0 && own.length === 0 && reply.complete ? [el("li", { class: "note" }, "None differs.")] : [];
    const cut = reply.differing_left_out;
    list.replaceChildren(
      ...few.map(sentence),
      ...(left > 0 ? [el("li", {}, more)] : []),
      ...(cut > 0 ? [el("li", { class: "note" }, `${cut} more differ by less; the bars show them.`)] : []),
      ...alike,
      ...faults,
    );
  }

  function showAll() {
    isWhole = true;
    showList();
  }

  function sentence(one) {
    const row = all[one.row];
    const open = button(one.text, () => onOpen(row), { class: "link across-differs", title: `open ${row.host}` });
    return el("li", {}, open);
  }

  function draw() {
    if (!node.isConnected || canvas.clientWidth === 0 || kind < 0) return;
    bars = layBars(rows, canvas.clientWidth - GUTTERS.left - GUTTERS.right);
    paint(canvas);
  }

  function paint(surface) {
    const open = rows.findIndex(isOpen);
    const median = reply.kinds[kind].median_bytes;
    drawBars(surface, { bars, rows, median, unit: unit(), chosen: open < 0 ? null : open, hover });
  }

  /** @param {number | null} at */
  function hold(at) {
    if (at === hover) return;
    hover = at;
    showReadout();
    requestFrame(draw);
  }

  function showReadout() {
    const row = hover === null ? null : rows[hover];
    setText(readout, row ? rowText(row) : `${rows.length} bars, dashed: the median. Click or Enter opens one.`);
  }

  function rowText(row) {
    const told = reply.differing.find((one) => one.row === row.index);
    if (told) return told.text;
    const { end = 0, first = 0 } = barOf(bars, hover) ?? {};
    const others = end - first > 1 ? `, the highest of ${end - first} in this bar` : "";
    const step = row.step === null ? "" : ` in step ${row.step}`;
    const size = `${formatSize(row.peak_bytes, unit())} (${exactBytes(row.peak_bytes)})`;
    return `${row.host}, ${row.memory_id}: ${size} at the peak${step}${others}`;
  }

  function placeOf(event) {
    const bar = barAt(bars, event.clientX - canvas.getBoundingClientRect().left - GUTTERS.left);
    return bar ? bar.at : null;
  }

  function onMove(event) {
    hold(placeOf(event));
  }

  function onClick(event) {
    const at = placeOf(event);
    if (at !== null) onOpen(rows[at]);
  }

  function onKey(event) {
    const last = bars.length - 1;
    const now = hover === null ? -1 : bars.findIndex((bar) => hover >= bar.first && hover < bar.end);
    const places = { ArrowRight: now + 1, ArrowLeft: now < 0 ? last : now - 1, Home: 0, End: last };
    if (event.key in places) hold(bars[Math.max(0, Math.min(last, places[event.key]))]?.at ?? null);
    else if (event.key === "Enter" && hover !== null) onOpen(rows[hover]);
    else if (event.key === "Escape" && hover !== null) hold(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** The rest could not be read: what is known stays. */
  function fail(error) {
    setText(waits, `${progressText(reply, noun)}: ${error.message}`);
  }

  drawnBy(canvas, paint);
  const stop = onResize(area, draw);
  return { node, show, fail, redraw: () => reply && arrange(), rows: () => rows, dispose: stop };
}
