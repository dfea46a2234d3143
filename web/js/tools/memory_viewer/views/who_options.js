// @ts-check
// What else can be chosen of "Who holds it": a search in it, what shares are of, whose files are not the reader's.
import { el } from "../../../base/dom.js";
import { createParamField } from "../../../base/param_field.js";
import { remember, remembered } from "../../../base/remembered.js";
import { createSearchBox } from "../../../base/search_box.js";
import { createStore } from "../../../base/store.js";
import { together } from "../../../base/upkeep.js";
import { WEIGHTS, areFrameworks } from "../data/group_weights.js";

const REMEMBERED = "frameworks";

export function createWhoOptions(state, params) {
  const found = createStore({ query: "" });
  const search = createSearchBox({ ...found, actions: { search: (query) => found.set({ query }) } }, "query", {
    id: "who-search",
    placeholder: "Search these",
    label: "search the groups",
    title: "Text or a regular expression",
  });
  const weight = el(
    "select",
    { class: "quiet", id: "who-weight", on: { change: () => state.actions.weighBy(weight.value) } },
    ...WEIGHTS.map(({ weight: value, label, title }) => el("option", { value, title }, label)),
  );
  const frameworks = createParamField(params, "frameworks", {
    id: "who-frameworks",
    label: "not my code",
    size: 16,
    placeholder: "jax,flax,haiku,…",
    title: "Libraries whose lines are passed over for their caller's: +mylib adds to the list, mylib replaces it",
    accepts: areFrameworks,
  });
  const node = el(
    "div",
    { class: "who-options" },
    search.node,
    el("label", { class: "param-field" }, "share of ", weight),
    frameworks.node,
  );

  function show() {
    weight.value = state.get().weight;
  }

  /** What was said once holds for other programs, too; a link says it itself. */
  function recall() {
    const before = remembered(REMEMBERED);
    if (before && params.get().frameworks === null) params.set({ frameworks: before });
  }

  const stop = together(
    state.watch(["weight"], show),
    params.watch(["frameworks"], ({ frameworks: now }) => remember(REMEMBERED, now)),
    search.dispose,
    frameworks.dispose,
  );
  show();
  recall();
  return { node, query: () => found.get().query, watch: found.watch, dispose: stop };
}
