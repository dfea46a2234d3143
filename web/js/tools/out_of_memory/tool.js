// @ts-check
/**
 * "Out of memory": a log is pasted or dropped, and each message in it is explained. Needs no session; with one, what
 * the message says is joined to the buffers of its program.
 */
import { parseSize } from "../../base/size_text.js";
import { createAnswerLink, explainedText } from "./answer_link.js";
import { createExplainState } from "./explain_state.js";
import { createIntake } from "./intake.js";
import { SAMPLE, SAMPLE_NAME } from "./data/sample.js";
import { sourceOfText } from "./data/source.js";
import { createInput } from "./views/input_view.js";
import { createMessageList } from "./views/message_list.js";
import { createResults } from "./views/results_view.js";

const MOUSE = [["drop a file", "explain the messages in it"]];

const state = createExplainState(); // of the page, not of one mount

export function mount(shell) {
  const { params, progress } = shell;
  const actions = {
    explain: (source) => state.explain(source, whereOf(shell), progress),
    example: () => actions.explain(sourceOfText(SAMPLE, SAMPLE_NAME)),
    clear: () => state.clear(),
    follow: (patch) => params.go({ ...patch, unit: params.get().unit }),
  };
  const input = createInput(state, params, actions);
  const results = createResults(state, params, actions);
  const list = createMessageList(state, params, results.reveal);
  const intake = createIntake(state, actions.explain);
  const link = createAnswerLink(state, actions.explain);

  shell.hosts.show([], null);
  shell.side.append(list.node);
  shell.show({ title: "Out of memory", main: results.wrap(input.node) });
  shell.savesToo(async () => (state.get().reply === null ? {} : { log: await explainedText(state) }));
  if (shell.saved?.log && state.get().source === null) actions.explain(sourceOfText(shell.saved.log, "this page"));
  const again = () => state.explainAgain(whereOf(shell), progress);
  const stops = [
    params.watch(["run", "capacity"], again),
    shell.keys.add("Out of memory", toolKeys(input, results), MOUSE),
  ];
  again();
  input.start();

  function unmount() {
    stops.forEach((stop) => stop());
    [intake, input, results, list, link].forEach((part) => part.dispose());
  }

  return { unmount, redraw() {} };
}

/** The program is looked for in all sessions; of equal ones that of the open session is meant. */
function whereOf({ params }) {
  const { run, capacity } = params.get();
  return { prefer: run, capacity: parseSize(capacity) };
}

function toolKeys(input, results) {
  return [
    { keys: ["/"], label: "to the text field", run: () => input.focus() },
    { keys: ["j"], label: "next message", run: () => results.step(1) },
    { keys: ["k"], label: "previous message", run: () => results.step(-1) },
    { keys: ["Ctrl+V"], label: "paste a log, anywhere on the page", run: () => {} },
  ];
}
