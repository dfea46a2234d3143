// @ts-check
// What the keys do in the Memory Profile.
import { byteZoomKeys, zoomKeys } from "../../base/zoom_keys.js";

const LONG_STEP = 100;

export const MOUSE = [
  ["hover", "the event there"],
  ["click the graph", "choose that event's time for what stands below"],
  ["click a step or module run", "zoom into it; again: show everything"],
  ["wheel", "zoom at the cursor"],
  ["wheel with Shift, or beside the bytes", "zoom in on bytes"],
  ["drag", "zoom into what is marked; once zoomed in, pan (with Shift, zoom further in)"],
  ["double click", "show everything again"],
];

/** Where to zoom: the mouse, else the chosen time; on the axis. */
function cursorsOf(state) {
  const { axis, hover } = state.get();
  return [hover?.time ?? null, state.chosenTime()].map((time) => time && axis.toAxis(time));
}

/** @param {{act: any, neighbour: (delta: number) => void}} parts `act` of the stage (shell/stage.js) */
export function toolKeys({ act, neighbour }) {
  const onState = (run) => act(({ state }) => run(state));
  const move = (sign) => act((now, event) => now.moveEvent(sign * (event.shiftKey ? LONG_STEP : 1)));
  return [
    { keys: ["j"], label: "next memory", run: () => neighbour(1) },
    { keys: ["k"], label: "previous memory", run: () => neighbour(-1) },
    { keys: ["ArrowRight"], shown: "→", label: "one event forward (Shift: 100)", run: move(1) },
    { keys: ["ArrowLeft"], shown: "←", label: "one event back (Shift: 100)", run: move(-1) },
    { keys: ["f"], label: "the next finding", run: act((now) => now.nextFinding(1)) },
    { keys: ["F"], shown: "Shift f", label: "the finding before", run: act((now) => now.nextFinding(-1)) },
    { keys: ["p"], label: "to the peak", run: act((now) => now.goTo({ at: null })) },
    ...zoomKeys(onState, cursorsOf),
    ...byteZoomKeys(onState),
    {
      keys: ["c"],
      label: "up to the use, up to the capacity",
      run: act(({ state }) => state.actions.switchHeight()),
    },
    {
      keys: ["x"],
      label: "leave idle time out, or show it",
      run: act(({ state }) => state.actions.switchIdle()),
    },
    { keys: ["]"], label: "next module run, or step", run: act((now) => now.showNextBand(1)) },
    { keys: ["["], label: "previous module run, or step", run: act((now) => now.showNextBand(-1)) },
    {
      keys: ["Escape"],
      shown: "Esc",
      label: "back to the peak's marker",
      run: act(({ state }) => state.actions.choose(null)),
    },
  ];
}
