// @ts-check
/**
 * Tabs: one panel at a time, named by `panel` in the address; the first where that names none.
 * A panel is {id, name, create(context)}; create gives back {node, start(), update(), dispose()}: `start` runs when it
 * stands on the page and may be left out. The context has `params`, and whatever else the panels of a tool want.
 */
import { el } from "./dom.js";
import { requestFrame } from "./frame.js";

/**
 * @param {any[]} panels @param {any} context @param {string} label what the tabs are about
 * @param {string} usual the panel that the address need not name
 */
export function createTabStrip(panels, context, label, usual = panels[0]?.id) {
  const { params } = context;
  const tabs = panels.map((panel, i) =>
    tabOf(
      panel,
      () => choose(i, true),
      (delta) => step(i, delta),
    ),
  );
  const body = el("div", { class: "panel-body", role: "tabpanel", id: "panel-body" });
  const node = el(
    "section",
    { class: "panels", hidden: panels.length === 0 },
    el("div", { class: "tabs", role: "tablist", "aria-label": label }, ...tabs),
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

  /** Asked for with the mouse it comes into sight: the tabs often stand at the foot of the window. */
  function choose(i, comesIntoSight = false) {
    params.set({ panel: panels[i].id === usual ? null : panels[i].id });
    show();
    if (comesIntoSight) requestFrame(() => node.scrollIntoView({ block: "nearest" }));
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
    mounted.start?.();
  }

  /** By name; comes into sight. */
  function open(id) {
    const i = panels.findIndex((panel) => panel.id === id);
    if (i >= 0) choose(i, true);
  }

  const stop = params.watch(["panel"], show);
  return {
    node,
    open,
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
