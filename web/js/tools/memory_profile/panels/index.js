// @ts-check
/**
 * What stands below the timeline, one at a time: {id, name, create(context)}; see base/tab_strip.js. The context has
 *     where      {session, host, memoryId}
 *     overview   the memory's entry of the overview reply; `host` its host's entry
 *     state      get(), set(), watch(): at (ps, null is the peak), row, from, to, unit, filter, sort (profile_state.js)
 *     params, progress
 *     goTo({at, row, from, to})   chooses a time, shows a window; each may be left out
 *     openMemory(host, memoryId)   another memory of the session
 *     goToEvent(row)   chooses an event: its time may be that of others, too
 */
import { acrossPanel } from "./views/across_panel.js";
import { breakdownPanel } from "./views/breakdown_panel.js";
import { churnPanel } from "./views/churn_panel.js";
import { eventsPanel } from "./views/events_panel.js";
import { fragmentationPanel } from "./views/fragmentation_panel.js";
import { leaksPanel } from "./views/leaks_panel.js";

const panels = [breakdownPanel, leaksPanel, churnPanel, fragmentationPanel, eventsPanel];

/** Of one memory there is nothing to compare. */
export const panelsFor = (memories, hosts) =>
  memories.length > 1 || hosts.length > 1 ? [...panels, acrossPanel] : panels;
