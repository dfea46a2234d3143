// @ts-check
/**
 * The tabs below the timeline: one panel at a time, named by `panel` in the address.
 * A panel is {id, name, create(context)}; create gives back {node, update(), dispose()}. The context has
 *     where      {session, host, memoryId}
 *     overview   the memory's entry of the overview reply; `host` its host's entry
 *     state      get(), set(), watch(): at (ps, null is the peak), row, from, to, unit, filter, sort (profile_state.js)
 *     params, progress
 *     goTo({at, row, from, to})   chooses a time, shows a window; each may be left out
 *     goToEvent(row)   chooses an event: its time may be that of others, too
 */
import { el } from "../../../base/dom.js";

export function createPanelStrip(panels, context) {
  const { params } = context;
  const tabs = panels.map((panel, i) =>
    tabOf(
      panel,
      () => choose(i),
      (delta) => step(i, delta),
    ),
  );
  const body = el("div", { class: "panel-body", role: "tabpanel", id: "panel-body" });
  const node = el(
    "section",
    { class: "panels", hidden: panels.length === 0 },
    el("div", { class: "tabs", role: "tablist", "aria-label": "about this memory" }, ...tabs),
    body,
  );
  let shown = -1;
  let mounted = null;

  function indexOfAddress() {
    return Math.max(
      0,
      panels.findIndex((panel) => panel.id === params.get().panel),
    );
  }

  function choose(i) {
    params.set({ panel: i === 0 ? null : panels[i].id });
    show();
  }

  function step(i, delta) {
    const next = (i + delta + panels.length) % panels.length;
    choose(next);
    tabs[next].focus();
  }

  function show() {
    if (panels.length === 0 || indexOfAddress() === shown) return;
    shown = indexOfAddress();
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === shown));
      tab.tabIndex = i === shown ? 0 : -1;
    });
    mounted?.dispose();
    mounted = panels[shown].create(context);
    body.replaceChildren(mounted.node);
    body.setAttribute("aria-labelledby", tabs[shown].id);
  }

  const stop = params.watch(["panel"], show);
  return {
    node,
    start: show,
    redraw: () => mounted?.update(),
    dispose() {
      stop();
      mounted?.dispose();
      mounted = null;
    },
  };
}

function tabOf(panel, onChoose, onStep) {
  return el(
    "button",
    {
      type: "button",
      role: "tab",
      class: "tab",
      id: `tab-${panel.id}`,
      "aria-controls": "panel-body",
      on: {
        click: onChoose,
        keydown: (event) => {
          const delta = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (!delta) return;
          event.preventDefault();
          onStep(delta);
        },
      },
    },
    panel.name,
  );
}
