// @ts-check
/**
 * The Advice panel: what changing the program would bring, in bytes. It asks the server when it is opened, since
 * replaying the heap for each change may take a second, and keeps what it was told while the workspace stands.
 */
import { createLatest, fetchDevices } from "../../../api.js";
import { el, setText } from "../../../base/dom.js";
import { createCapacityField, createParamField } from "../../../base/param_field.js";
import { saveMenu } from "../../../base/save_menu.js";
import { parseSize } from "../../../base/size_text.js";
import { together } from "../../../base/upkeep.js";
import { planChoice, waterfallChart } from "../../../base/waterfall_chart.js";
import { errorLine } from "../../../shell/messages.js";
import { ADVICE_COLUMNS, adviceOf, parseCount, planSentence } from "../data/advice.js";
import { adviceTable } from "./advice_table.js";
import { createCompilerCheck } from "./compiler_check.js";

/** @param {(query: object, signal: AbortSignal) => Promise<any>} fetchAdvice */
export function createAdvice(state, params, view, fetchAdvice) {
  const latest = createLatest();
  const fields = fieldsOf(params);
  const plan = el("p", { class: "advice-plan", role: "status" });
  const steps = el("div", { class: "advice-steps" });
  const content = el("div", { class: "advice-content" });
  const rows = () => advice && [...advice.applying, ...advice.others];
  const saves = saveMenu({ what: "advice", table: { columns: () => ADVICE_COLUMNS, rows } });
  const check = createCompilerCheck();
  saves.hidden = check.node.hidden = true; // until there is any
  const node = el(
    "section",
    { class: "advice-panel", id: "advice-body", "aria-label": "advice: what to change" },
    el("div", { class: "advice-controls" }, ...fields.map((field) => field.node), saves),
    plan,
    steps,
    content,
    check.node,
  );
  const expanded = new Set();
  let reply = null;
  let advice = null;
  let askedFor = "";

  /** Only while it stands on the page: replaying takes the server a second. */
  function askIfOpen() {
    if (node.isConnected) ask();
  }

  async function ask() {
    const { capacity, ways, batch, sequence } = params.get();
    const query = {
      capacity: parseSize(capacity),
      ways: parseCount(ways, 2),
      batch: parseCount(batch, 1),
      sequence: parseCount(sequence, 2),
    };
    const key = JSON.stringify(query);
    if (key === askedFor) return;
    askedFor = key;
    node.setAttribute("aria-busy", "true");
    if (reply === null) setText(plan, "replaying the heap with each change …");
    try {
      reply = await latest.run((signal) => fetchAdvice(query, signal));
      check.show(reply, query);
      showPlan();
    } catch (error) {
      if (error.name === "AbortError") return;
      showError(error);
    }
    node.setAttribute("aria-busy", "false");
  }

  function choose(kind) {
    params.set({ plan: kind === advice.plans[0].kind ? null : kind });
    steps.querySelector("input:checked")?.focus();
  }

  /** Another plan than before: its changes are open. */
  function showPlan() {
    if (reply === null) return;
    for (const id of adviceOf(reply, params.get().plan).plan.ids) expanded.add(id);
    showAdvice();
  }

  function showAdvice() {
    if (reply === null) return;
    const { unit } = state.get();
    check.redraw(unit);
    advice = adviceOf(reply, params.get().plan);
    plan.className = `advice-plan plan-${advice.plan.state}`;
    setText(plan, planSentence(advice, unit));
    steps.replaceChildren(...stepsOf(advice, unit, choose));
    for (const found of ["batch", "sequence"])
      node.querySelector(`#advice-${found}`).placeholder = String(advice[found] ?? "not found");
    saves.hidden = check.node.hidden = false;
    content.replaceChildren(...adviceTable(advice, { unit, expanded }), ...notesOf(advice, view));
  }

  function showError(error) {
    reply = advice = null;
    saves.hidden = check.node.hidden = true;
    askedFor = "";
    plan.className = "advice-plan";
    setText(plan, "");
    steps.replaceChildren();
    content.replaceChildren(errorLine(error));
  }

  const dispose = together(
    params.watch(["capacity", "ways", "batch", "sequence"], askIfOpen),
    params.watch(["plan"], showPlan),
    state.watch(["unit"], showAdvice),
    ...fields.map((field) => field.dispose),
    latest.stop,
    check.dispose,
  );

  function start() {
    check.wake();
    return ask();
  }

  return { node, start, redraw: showAdvice, dispose };
}

/** The plan that is chosen, step by step, and what else there is. */
function stepsOf({ plans, chosen, total_bytes: today, capacity }, mode, choose) {
  if (!chosen?.steps) return [];
  const parts = [
    chosen.isChain ? el("p", { class: "note" }, "Changes that often go together:") : null,
    planChoice(plans, chosen, choose, "plan-of-advice"),
    waterfallChart(chosen, { today, capacity, mode }),
  ];
  return parts.filter((part) => part !== null);
}

function fieldsOf(params) {
  return [
    createCapacityField(params, {
      askDevices: fetchDevices,
      id: "advice-capacity",
      title: "Memory of the device, such as 15.75GiB: the plan is the set of changes that fits it",
    }),
    createParamField(params, "ways", {
      id: "advice-ways",
      label: "chips to shard over",
      size: 3,
      placeholder: "4",
      title: "Into how many shards parameters and batch are divided",
      accepts: (text) => parseCount(text, 2) !== null,
    }),
    createParamField(params, "batch", {
      id: "advice-batch",
      label: "batch size",
      size: 5,
      title: "The batch dimension: as it was found in the program, or as you say",
      accepts: (text) => parseCount(text, 1) !== null,
    }),
    createParamField(params, "sequence", {
      id: "advice-sequence",
      label: "sequence",
      size: 5,
      title: "The length of the sequence: as it was found in the program, or as you say",
      accepts: (text) => parseCount(text, 2) !== null,
    }),
  ];
}

function notesOf(advice, view) {
  const notes = [`Not counted, since no HLO tells it: ${advice.not_counted.join(", ")}.`];
  const isPart = advice.held_by_part < 1;
  const holding = advice.held_by?.join(", ") || `no ${isPart ? "GPU" : "TPU"} known here`;
  const part = isPart ? `, with the ${100 * advice.held_by_part} % of its memory that XLA takes by itself` : "";
  if (advice.held_by) notes.unshift(`As it is, ${holding} would hold it${part}.`);
  if (view.memory_space !== 0) notes.unshift(`This is about HBM, not ${view.memory_space_name}.`);
  notes.push("The compiler schedules a changed program anew: the range is where its total is expected.");
  return notes.map((text) => el("p", { class: "note" }, text));
}
