// @ts-check
// Predicted against actual: what the advice for the program before said of each change, asked when it is wanted.
import { chartSection } from "../../../base/chart_section.js";
import { button, el, setText } from "../../../base/dom.js";
import { formatSize, pickUnit } from "../../../base/format.js";
import { saveMenu } from "../../../base/save_menu.js";
import { createSortedTable } from "../../../base/sorted_table.js";
import { inFrame, together } from "../../../base/upkeep.js";
import { errorLine } from "../../../shell/messages.js";
import { FORETOLD_COLUMNS, foretoldRows } from "../data/foretold.js";
import { fillChange } from "./change_cells.js";

const WHY = "Replays the program before with each change that the advice knows";

/** @param {any} state @param {any} reply @param {(signal: AbortSignal) => Promise<any>} ask */
export function createForetold(state, reply, ask) {
  const stopped = new AbortController();
  const asking = button("What did the advice foretell?", begin, { class: "quiet small", id: "foretold", title: WHY });
  const note = el("p", { class: "note" });
  const body = el("div", {}, note);
  const table = createSortedTable({
    label: "predicted against actual",
    className: "compare-foretold",
    columns: FORETOLD_COLUMNS,
    minWidth: 620,
    pick: pickUnit,
    id: (row) => row.id,
    fill: fillChange(() => 0),
  });
  const saved = { columns: () => FORETOLD_COLUMNS, rows: () => rows };
  const saves = saveMenu({ what: "predicted and actual", table: saved });
  saves.hidden = true;
  const node = chartSection("Predicted and actual", [asking, saves], [body]);
  let rows = [];

  async function begin() {
    asking.disabled = true;
    try {
      told(await ask(stopped.signal));
    } catch (error) {
      if (error.name === "AbortError") return;
      asking.disabled = false;
      body.replaceChildren(errorLine(error));
    }
  }

  function told(advice) {
    rows = foretoldRows(advice, reply.b.total_allocation_bytes);
    const needs = `The program after needs ${formatSize(reply.b.total_allocation_bytes)} in all.`;
    const [first] = rows;
    const nearest = first
      ? `Nearest to that is: ${first.title}, ${formatSize(first.predicted)} predicted. Which change was made you know.`
      : "The advice knew no change for the program before.";
    setText(note, `${needs} ${nearest}`);
    asking.hidden = true;
    saves.hidden = rows.length === 0;
    body.replaceChildren(note, ...(rows.length ? [table.node] : []));
    show();
  }

  const show = () => table.show(rows, state.get().unit);
  const dispose = together(inFrame(state, ["unit"], show), table.dispose, () => stopped.abort());
  return { node, start() {}, redraw: show, dispose };
}
