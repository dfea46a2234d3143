// @ts-check
// What the keys do in the Memory Viewer.
import { byteZoomKeys, zoomKeys } from "../../base/zoom_keys.js";

const LONG_STEP_SHARE = 50;

export const MOUSE = [
  ["hover", "one buffer, in all charts at once"],
  ["click a buffer", "pin it; click it again or press Esc to let go"],
  ["click the line chart", "see what is live at that step"],
  ["wheel", "zoom at the cursor"],
  ["drag", "zoom into what is marked; once zoomed in, pan (with Shift, zoom further in)"],
  ["double click", "show everything again"],
];

/**
 * @param {{act: any, list: any, openModule: (module: any) => void, compare: () => void,
 *         follow: () => void}} parts `act` of the stage
 *     (shell/stage.js)
 */
export function toolKeys({ act: onWorkspace, list, openModule, compare, follow }) {
  const act = (run) =>
    onWorkspace((now, event) => {
      const state = now.state();
      if (state) run(state, event);
    });
  const open = (delta) => () => {
    const module = list.neighbour(delta);
    if (module) openModule(module);
  };
  const move = (sign) => act((state, event) => state.actions.moveStep(sign * (event.shiftKey ? longStep(state) : 1)));
  return [
    { keys: ["/"], label: "search buffers", run: onWorkspace((now) => now.focusSearch()) },
    { keys: ["j"], label: "next module", run: open(1) },
    { keys: ["k"], label: "previous module", run: open(-1) },
    { keys: ["c"], label: "compare with another program", run: onWorkspace(compare) },
    { keys: ["t"], label: "the same program over all sessions", run: onWorkspace(follow) },
    { keys: ["ArrowRight"], shown: "→", label: "one step forward (Shift: many)", run: move(1) },
    { keys: ["ArrowLeft"], shown: "←", label: "one step back (Shift: many)", run: move(-1) },
    {
      keys: ["p"],
      label: "back to the peak",
      run: act((state) => {
        state.actions.hoverStep(null);
        state.actions.setStep(state.model.peakStep);
      }),
    },
    ...zoomKeys(act, (state) => [state.get().hoverStep, state.get().step]),
    ...byteZoomKeys(act),
    { keys: ["f"], label: "timeline alone on the screen (Esc leaves)", run: onWorkspace((now) => now.fillScreen()) },
    {
      keys: ["Escape"],
      shown: "Esc",
      label: "let go of the pinned buffer",
      run: act((state) => state.actions.letGo()),
    },
  ];
}

function longStep(state) {
  return Math.max(2, Math.round(state.model.steps / LONG_STEP_SHARE));
}
