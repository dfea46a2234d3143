// @ts-check
// One message: what it means, to scale, why, where it disagrees with the buffers, what to change, and what it lists.
import { el } from "../../../base/dom.js";
import { exactFigure, sizeFigure } from "../../../base/figures.js";
import { groupDigits, plural } from "../../../base/format.js";
import { parseSize } from "../../../base/size_text.js";
import { breakdownRows, marksOf, sentenceOf } from "../data/facts.js";
import { kindOf } from "../data/kinds.js";
import { barsNode } from "./bars_view.js";
import { fixesNode } from "./fixes_view.js";
import { holdersNode } from "./holders_view.js";
import { joinedNode } from "./joined_view.js";
import { largestNode } from "./largest_view.js";
import { loadedNode } from "./loaded_view.js";
import { part } from "./part.js";
import { planNode } from "./plan_view.js";

/**
 * @param {{mode: string, capacity: string | null, kinds: Map<string, string>, follow: (patch: object) => void}} context
 */
export function messageNode(message, index, context) {
  const id = `oom-title-${index}`;
  const isOther = message.joined?.is_same_size === false;
  return el(
    "article",
    { class: "oom-message", tabindex: -1, "aria-labelledby": id },
    headOf(message, id),
    verdictNode(message, context) ?? el("p", { class: "oom-sentence" }, sentenceOf(message, context.mode)),
    isOther ? disagreements(message, "This program is not the message's") : null,
    barsNode(message, context.mode),
    holdersNode(message, context.mode),
    loadedNode(message, context.mode),
    planNode(message, capacityIn(message, context), context),
    fixesNode(message, context),
    el(
      "div",
      { class: "oom-columns" },
      el(
        "div",
        { class: "oom-why" },
        scenarioNode(message),
        causesNode(message),
        isOther ? null : disagreements(message, "The message and the buffers disagree"),
        joinedNode(message, context),
      ),
      el("div", { class: "oom-lists" }, listsNode(message, context)),
    ),
  );
}

/** As asked for, else as the message has it. */
const capacityIn = (message, context) => parseSize(context.capacity) ?? message.capacity_bytes;

/** "52.93 GiB of 15.75 GiB: OVERFLOW by 37.18 GiB"; null where the message does not tell, and a sentence must do. */
function verdictNode(message, context) {
  const { over_bytes: over } = message;
  const capacity = capacityIn(message, context);
  if (!over || !capacity) return null;
  const size = (bytes) => sizeFigure(bytes, context.mode);
  const overflow = el("strong", {}, "OVERFLOW by ", size(over));
  return el("p", { class: "oom-verdict" }, size(capacity + over), " of ", size(capacity), ": ", overflow);
}

/** The message's own list and figures: evidence, folded away. */
function listsNode(message, context) {
  const parts = [largestNode(message, context), breakdownNode(message, context.mode)].filter((node) => node !== null);
  if (parts.length === 0) return null;
  const count = plural((message.largest ?? []).length, "buffer");
  const summary = el("summary", {}, `The largest allocations and the message's own figures: ${count}`);
  return el("details", { class: "oom-evidence", open: !message.who_holds?.rows.length || null }, summary, ...parts);
}

function headOf(message, id) {
  const kind = kindOf(message);
  const marks = [message.error_code, message.module, kind.when, ...marksOf(message)].filter(Boolean);
  return el(
    "header",
    { class: "oom-head" },
    el("h2", { id }, kind.title),
    ...marks.map((text) => el("span", { class: "oom-mark" }, text)),
  );
}

function disagreements(message, title) {
  const said = message.joined?.disagreements ?? message.disagreements ?? [];
  if (said.length === 0) return null;
  return el(
    "section",
    { class: "oom-disagree" },
    el("h3", {}, title),
    ...said.map((text) => el("p", {}, text)),
  );
}

function scenarioNode(message) {
  if (!message.scenario && !message.scenario_reason) return null;
  const name = SCENARIOS[message.scenario] ?? "";
  const heading = message.scenario ? `Scenario ${message.scenario}${name ? `: ${name}` : ""}` : "Why";
  return part(heading, el("p", {}, message.scenario_reason ?? ""));
}

/** As the E1000 page of openxla.org counts them. */
const SCENARIOS = {
  1: "TensorCore against SparseCore",
  2: "one very large allocation",
  3: "the sum of many allocations",
  "3A": "the configuration",
  "3B": "architecture and sharding",
  "3C": "padding",
  "3D": "flags of the compiler",
  "3E": "activations kept for the backward pass",
  "3F": "to be found by profiling",
};

function causesNode(message) {
  const causes = message.causes ?? [];
  const cause = CAUSES[message.cause] ?? message.cause;
  if (causes.length === 0 && !cause) return null;
  const list = el("ul", {}, ...causes.map((text) => el("li", {}, text)));
  return part("Causes", cause ? el("p", { class: "oom-cause" }, cause) : null, list);
}

const CAUSES = {
  program_too_big: "The program is larger than all that is free.",
  fragmented: "There would be room in sum, but not in one piece: the memory is fragmented.",
};

/** As the message words it. */
function breakdownNode(message, mode) {
  const rows = breakdownRows(message);
  if (rows.length === 0) return null;
  const figures = rows.map((row) =>
    el("div", {}, el("dt", {}, row.name), el("dd", {}, row.isCount ? groupDigits(row.value) : figure(row, mode))),
  );
  return part("The message's own figures", el("dl", { class: "oom-breakdown" }, ...figures));
}

function figure({ value }, mode) {
  return mode === "bytes" ? exactFigure(value) : sizeFigure(value, mode);
}
