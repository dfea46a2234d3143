// @ts-check
// What the tables of several panels have: a filter over ops, an order, CSV.
import { button } from "../../../../base/dom.js";
import { fileName, saveText } from "../../../../base/save_file.js";
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

/** `getText` may take its time; `what` names the table in the file's name. */
export function csvButton(context, what, getText) {
  return button(
    "CSV",
    async () => {
      const text = await getText();
      const { session, host, memoryId } = context.where;
      if (text !== null) saveText(fileName(session, host, memoryId, `${what}.csv`), text);
    },
    {
      class: "quiet small csv",
      title: `Save the table as CSV: all rows, exact figures`,
      "aria-label": `${what} as CSV`,
    },
  );
}
