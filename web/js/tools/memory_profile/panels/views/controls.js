// @ts-check
// What the tables of several panels have: a filter over ops, an order, files.
import { saveMenu } from "../../../../base/save_menu.js";
import { createSearchBox } from "../../../../base/search_box.js";
import { matcher } from "../../../../base/text_match.js";

/** XProf's filter over op names, kept in the address and the same in every panel. */
export function createOpFilter(state) {
  return createSearchBox(state, "filter", {
    className: "op-filter",
    placeholder: "Operation",
    label: "filter by op name",
    title: "Op name: text or a regular expression, in any case",
  });
}

/** The rows whose op the filter lets through. */
export function matchingOps(state, rows) {
  const test = matcher(state.get().filter);
  return test ? rows.filter((row) => test(row.op)) : rows;
}

export const noOpMatches = (state) => `No op matches "${state.get().filter}".`;

/** The order of a panel's table, in the address: of the panel that is open. */
export function orderOf(state) {
  return { get: () => state.get().sort, set: state.actions.sortBy };
}

/**
 * What is saved of this memory.
 * @param {{picture?: () => Element, table?: import("../../../../base/save_menu.js").Table}} of
 */
export function panelSaves(context, what, of) {
  const { session, host, memoryId } = context.where;
  return saveMenu({ what, from: () => [session, host, memoryId], ...of });
}
