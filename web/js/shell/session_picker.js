// @ts-check
/**
 * The sessions, to choose from: a button that says which is open, and a list that filters as one types, each with its
 * date and, once they are known, its size, its highest peak and what it holds for which tool (session_facts.js). What
 * came while the page was open is marked, until the list was looked at or the session opened.
 */
import { button, el, setText } from "../base/dom.js";
import { formatSize } from "../base/format.js";
import { matcher } from "../base/text_match.js";
import { newsText, withNews } from "./list_news.js";

const MOST_SHOWN = 200;
const ROW_HEIGHT = 40; // as in css/shell.css

/**
 * @typedef {{value: string, label: string, modified?: number}} Option
 * @param {(value: string) => void} onPick
 * @param {ReturnType<import("./session_facts.js").createSessionFacts>} facts
 */
export function createSessionPicker(onPick, facts, extra) {
  const title = el("span", { class: "side-title", id: "sessions-title" }, "Sessions");
  const opener = el("button", {
    type: "button",
    id: "pick-sessions",
    class: "session-button ellipsis",
    "aria-haspopup": "listbox",
    "aria-expanded": "false",
    "aria-labelledby": "sessions-title pick-sessions",
    on: { click: () => (popup.hidden ? open() : close()), keydown: onOpenerKey },
  });
  setText(opener, "…"); // as high as with a name, until the list is there
  const filter = el("input", {
    type: "search",
    id: "session-filter",
    role: "combobox",
    placeholder: "filter sessions",
    "aria-label": "filter sessions",
    "aria-controls": "session-list",
    "aria-expanded": "true",
    spellcheck: "false",
    on: { input: () => showList(0), keydown: onKey },
  });
  const list = el("ul", { id: "session-list", role: "listbox", "aria-label": "sessions" });
  list.addEventListener("scroll", wantFacts);
  const left = el("p", { class: "side-note" });
  const hidden = { class: "session-popup", hidden: true, on: { focusout: onFocusOut } };
  const popup = el("div", hidden, filter, list, left);
  const note = el("div", { class: "side-note" });
  const marks = button("", open, { class: "news", id: "session-news", hidden: true });
  const said = el("span", { class: "only-said", role: "status" });
  const head = el("div", { class: "side-head" }, title, marks, said, extra);
  const node = el("div", { class: "side-section" }, head, opener, popup, note);
  /** @type {Option[]} */
  let options = [];
  /** @type {Option[]} */
  let shown = [];
  let value = "";
  let active = 0;
  /** @type {Map<string, "new" | "changed">} */
  let unseen = new Map();

  /** @param {import("./list_news.js").News} news @param {(string | null)[]} open the sessions on the screen */
  function tell(news, open) {
    facts.forget(news.changed);
    unseen = withNews(unseen, news, open);
    showMarks();
    if (news.added.length) setText(said, `${newsText(unseen)} in the list of sessions`);
  }

  function showMarks() {
    setText(marks, newsText(unseen));
    marks.hidden = unseen.size === 0;
    marks.title = `Since you looked at the list: ${[...unseen].map(([name, kind]) => `${name} (${kind})`).join(", ")}`;
  }

  function seen() {
    unseen = new Map();
    setText(said, "");
    showMarks();
  }

  /** @param {Option[]} all */
  function show(all, chosen, { count = all.length, notes = [] } = {}) {
    options = all;
    value = chosen ?? "";
    setText(title, `Sessions (${count})`);
    const label = all.find((one) => one.value === value)?.label ?? (value && `${value} (not found)`);
    setText(opener, `${label || "none"} ▾`);
    opener.title = label;
    opener.disabled = all.length === 0;
    note.replaceChildren(...notes.map((text) => el("p", { title: text }, text)));
    if (!popup.hidden) showAgain();
  }

  /** Other sessions, while the list is open: what is active stays so, at the same place under the eye. */
  function showAgain() {
    const name = shown[active]?.value;
    const above = (list.children[active]?.offsetTop ?? 0) - list.scrollTop;
    showList(active);
    const now = shown.findIndex((one) => one.value === name);
    if (now >= 0) activate(now);
    list.scrollTop = (list.children[active]?.offsetTop ?? 0) - above;
  }

  function open() {
    const box = opener.getBoundingClientRect();
    popup.hidden = false;
    popup.style.left = `${box.left}px`;
    popup.style.top = `${box.bottom + 2}px`;
    opener.setAttribute("aria-expanded", "true");
    filter.value = "";
    showList(options.findIndex((one) => one.value === value));
    filter.focus();
  }

  function close() {
    if (popup.hidden) return;
    shut();
    opener.focus();
  }

  function shut() {
    popup.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    facts.stop();
    seen();
  }

  function pick(option) {
    close();
    if (option.value !== value) onPick(option.value);
  }

  function showList(at) {
    const test = matcher(filter.value);
    const found = options.filter((one) => !test || test(one.label));
    shown = found.slice(0, MOST_SHOWN);
    list.replaceChildren(...shown.map((one, i) => optionNode(one, i)));
    const more = found.length - shown.length;
    setText(left, found.length === 0 ? "No session matches." : more > 0 ? `and ${more} more: type to filter` : "");
    activate(at);
    wantFacts();
  }

  function optionNode(option, i) {
    const isOpen = option.value === value;
    const node = el(
      "li",
      {
        role: "option",
        class: "session",
        id: `session-${i}`,
        "aria-selected": String(isOpen),
        data: { run: option.value },
        on: { click: () => pick(option) },
      },
      el("span", { class: "session-name ellipsis", title: option.label }, markOf(option), option.label),
      el("span", { class: "figure session-peak" }),
      el("span", { class: "session-about ellipsis" }),
    );
    fillFacts(node, option);
    return node;
  }

  function markOf({ value: name }) {
    const kind = unseen.get(name);
    return kind ? el("span", { class: "news" }, kind) : null;
  }

  function fillFacts(node, option) {
    const known = facts.get(option.value);
    const peak = known?.peak ?? null;
    setText(node.querySelector(".session-peak"), peak === null ? "" : formatSize(peak));
    const about = [dateText(option.modified), factsText(known)].filter(Boolean).join(", ");
    setText(node.querySelector(".session-about"), about);
    node.classList.toggle("without", known !== null && known.holds.length === 0);
  }

  function wantFacts() {
    const first = Math.floor(list.scrollTop / ROW_HEIGHT);
    const inSight = shown.slice(first, first + Math.ceil(list.clientHeight / ROW_HEIGHT) + 1);
    const names = inSight.filter((one) => one.modified !== undefined).map((one) => one.value);
    facts.want(names, () => [...list.children].forEach((node, i) => fillFacts(node, shown[i])));
  }

  function activate(at) {
    active = Math.max(0, Math.min(shown.length - 1, at));
    [...list.children].forEach((node, i) => node.classList.toggle("active", i === active));
    filter.setAttribute("aria-activedescendant", shown.length ? `session-${active}` : "");
    list.children[active]?.scrollIntoView({ block: "nearest" });
  }

  function onKey(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 };
    if (event.key in moves) activate(active + moves[event.key]);
    else if (event.key === "Enter" && shown[active]) pick(shown[active]);
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function onOpenerKey(event) {
    if (event.key !== "ArrowDown" || !popup.hidden) return;
    event.preventDefault();
    open();
  }

  /** Somebody went elsewhere: the focus is theirs. */
  function onFocusOut(event) {
    const to = event.relatedTarget;
    if (popup.hidden || to === null || popup.contains(to) || to === opener) return;
    shut();
  }

  document.addEventListener("pointerdown", (event) => {
    if (!popup.hidden && event.target instanceof Node && !node.contains(event.target)) close();
  });
  return { node, show, tell };
}

function dateText(seconds) {
  if (seconds === undefined) return "";
  return new Date(1000 * seconds).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

/** @param {import("./session_facts.js").Facts | null} known */
function factsText(known) {
  if (known === null) return "";
  if (known.isBroken) return "cannot be read";
  const holds = known.holds.length ? known.holds : ["nothing that a tool could show"];
  return [known.bytes === null ? "size not known" : formatSize(known.bytes), ...holds].join(", ");
}
