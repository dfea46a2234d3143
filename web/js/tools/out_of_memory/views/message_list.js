// @ts-check
// The side panel: the messages that were found, to go to each.
import { createSideList } from "../../../base/side_list.js";
import { together } from "../../../base/upkeep.js";
import { unitMode } from "../../../shell/unit_switch.js";
import { kindOf } from "../data/kinds.js";
import { wantedBytes } from "../data/facts.js";

export function createMessageList(state, params, reveal) {
  const list = createSideList("Messages", reveal);
  list.node.classList.add("oom-side");

  function show() {
    list.show((state.get().reply?.messages ?? []).map(entryOf), null, unitMode(params.get()));
  }

  const dispose = together(state.watch(["reply"], show), params.watch(["unit"], show));
  show();
  return { node: list.node, dispose };
}

function entryOf(message, i) {
  const { title } = kindOf(message);
  return { value: i, label: message.module ?? title, title, bytes: wantedBytes(message) };
}
