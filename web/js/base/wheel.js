// @ts-check
// Who owns a turn of the wheel over a chart: the chart (zoom) or the page (scroll)?
// A scroll that began outside a chart goes on as a scroll when a chart slides under the mouse; and a chart that is
// already fully zoomed out lets the page scroll on.

const SCROLL_REST_MS = 250;
let lastPageWheelMs = -Infinity;

/** To be called for every wheel event that no chart took. */
export function notePageWheel(timeMs) {
  lastPageWheelMs = timeMs;
}

export function chartOwnsWheel(timeMs, zoomsOut, atFullRange) {
  if (timeMs - lastPageWheelMs < SCROLL_REST_MS) return false;
  return !(zoomsOut && atFullRange);
}

/** Zoom factor of one wheel event, the same for mice that count lines and trackpads that count pixels. */
export function wheelFactor(event) {
  const pixels =
    event.deltaMode === 1 ? event.deltaY * 24 : event.deltaMode === 2 ? event.deltaY * 240 : event.deltaY;
  return Math.exp(Math.max(-240, Math.min(240, pixels)) * 0.002);
}
