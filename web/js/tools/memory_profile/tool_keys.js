// @ts-check
// What the keys do in the Memory Profile. A key without a workspace to act on does nothing.
import { span } from "../../base/range.js";

const PAN_SHARE = 0.12;
const ZOOM_STEP = 0.7;
const LONG_STEP = 100;

export const MOUSE = [
  ["hover", "the event there"],
  ["click the graph", "choose that event's time for what stands below"],
  ["click a step or module run", "zoom into it; again: show everything"],
  ["wheel", "zoom at the cursor"],
  ["wheel with Shift, or beside the bytes", "zoom in on bytes"],
  ["drag", "pan; with Shift, zoom into what is marked"],
  ["double click", "show everything again"],
];

/** @param {{workspace: () => any, neighbour: (delta: number) => void}} parts */
export function toolKeys({ workspace, neighbour }) {
  const act = (run) => (event) => {
    const now = workspace();
    if (now) run(now, event);
  };
  const move = (sign) => act((now, event) => now.moveEvent(sign * (event.shiftKey ? LONG_STEP : 1)));
  return [
    { keys: ["j"], label: "next memory", run: () => neighbour(1) },
    { keys: ["k"], label: "previous memory", run: () => neighbour(-1) },
    { keys: ["ArrowRight"], shown: "→", label: "one event forward (Shift: 100)", run: move(1) },
    { keys: ["ArrowLeft"], shown: "←", label: "one event back (Shift: 100)", run: move(-1) },
    { keys: ["p"], label: "to the peak", run: act((now) => now.goTo({ at: null })) },
    { keys: ["w"], label: "zoom in", run: act(({ state }) => zoomX(state, ZOOM_STEP)) },
    { keys: ["s"], label: "zoom out", run: act(({ state }) => zoomX(state, 1 / ZOOM_STEP)) },
    { keys: ["a"], label: "pan left", run: act(({ state }) => pan(state, -PAN_SHARE)) },
    { keys: ["d"], label: "pan right", run: act(({ state }) => pan(state, PAN_SHARE)) },
    {
      keys: ["W", "+"],
      shown: "Shift w",
      label: "zoom in on bytes",
      run: act(({ state }) => zoomY(state, ZOOM_STEP)),
    },
    {
      keys: ["S", "-"],
      shown: "Shift s",
      label: "zoom out of bytes",
      run: act(({ state }) => zoomY(state, 1 / ZOOM_STEP)),
    },
    {
      keys: ["c"],
      label: "up to the use, up to the capacity",
      run: act(({ state }) => state.actions.switchHeight()),
    },
    { keys: ["]"], label: "next module run, or step", run: act((now) => now.showNextBand(1)) },
    { keys: ["["], label: "previous module run, or step", run: act((now) => now.showNextBand(-1)) },
    { keys: ["0", "Home"], shown: "0", label: "show everything", run: act(({ state }) => state.actions.showAll()) },
    {
      keys: ["Escape"],
      shown: "Esc",
      label: "back to the peak's marker",
      run: act(({ state }) => state.actions.choose(null)),
    },
  ];
}

/** Around the cursor that is in sight: the mouse's, else the chosen time, else the middle. */
function zoomX(state, factor) {
  const { hover, x } = state.get();
  const inSight = [hover?.time ?? null, state.chosenTime()].find(
    (one) => one !== null && one >= x.begin && one < x.end,
  );
  state.actions.zoomX(inSight ?? (x.begin + x.end) / 2, factor);
}

/** From the ground: what is in use stays in sight. */
function zoomY(state, factor) {
  state.actions.zoomY(state.get().y.begin, factor);
}

function pan(state, share) {
  state.actions.pan(span(state.get().x) * share);
}
