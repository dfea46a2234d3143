// @ts-check
// What stands below the timeline, one at a time: {id, name, create(context)}; see ../views/panel_strip.js.
import { breakdownPanel } from "./views/breakdown_panel.js";
import { churnPanel } from "./views/churn_panel.js";
import { eventsPanel } from "./views/events_panel.js";
import { fragmentationPanel } from "./views/fragmentation_panel.js";
import { leaksPanel } from "./views/leaks_panel.js";

export const panels = [breakdownPanel, leaksPanel, churnPanel, fragmentationPanel, eventsPanel];
