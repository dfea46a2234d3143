// @ts-check
// The keys that zoom and pan, the same in every chart that can be: w s a d 0.

const PAN_SHARE = 0.12;
const ZOOM_STEP = 0.7;

/**
 * @param {(run: (state: any) => void) => (event: KeyboardEvent) => void} act runs it on the state on the page, if any
 * @param {(state: any) => (number | null)[]} cursors where to zoom: the first of them that is in sight
 */
export function zoomKeys(act, cursors) {
  const zoom = (factor) =>
    act((state) => {
      const { x } = state.get();
      const inSight = cursors(state).find((one) => one !== null && one >= x.begin && one < x.end);
      state.actions.zoom("x", { x: inSight ?? (x.begin + x.end) / 2 }, factor);
    });
  const pan = (share) =>
    act((state) => {
      const { x } = state.get();
      state.actions.pan((x.end - x.begin) * share);
    });
  return [
    { keys: ["w"], label: "zoom in", run: zoom(ZOOM_STEP) },
    { keys: ["s"], label: "zoom out", run: zoom(1 / ZOOM_STEP) },
    { keys: ["a"], label: "pan left", run: pan(-PAN_SHARE) },
    { keys: ["d"], label: "pan right", run: pan(PAN_SHARE) },
    { keys: ["0", "Home"], shown: "0", label: "show everything", run: act((state) => state.actions.showAll()) },
  ];
}

/** From the ground: what is in use stays in sight. */
export function byteZoomKeys(act) {
  const zoom = (factor) => act((state) => state.actions.zoom("y", { y: state.get().y.begin }, factor));
  return [
    { keys: ["W", "+"], shown: "Shift w", label: "zoom in on bytes", run: zoom(ZOOM_STEP) },
    { keys: ["S", "-"], shown: "Shift s", label: "zoom out of bytes", run: zoom(1 / ZOOM_STEP) },
  ];
}
