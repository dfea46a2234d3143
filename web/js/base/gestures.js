// @ts-check
/**
 * The mouse on a plot, in CSS pixels of the element: hover, click, drag to pan, Shift-drag to mark, wheel,
 * double click. A plain drag marks, too, where `marks` says so: when there is nowhere to pan to.
 * @typedef {{x: number, y: number}} Point
 * @typedef {{
 *   onHover?: (at: Point) => void, onLeave?: () => void, onClick?: (at: Point) => void, onDouble?: () => void,
 *   onPan?: (dx: number, dy: number) => void, onMark?: (from: Point, to: Point, done: boolean) => void,
 *   marks?: () => boolean,
 *   onWheel?: (event: WheelEvent, at: Point) => void}} Handlers
 */

const CLICK_SLACK = 4;

/** @param {HTMLElement} node @param {Handlers} handlers */
export function attachGestures(node, handlers) {
  /** @type {{from: Point, last: Point, moved: boolean, marks: boolean} | null} */
  let press = null;

  function at(event) {
    const box = node.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  }

  function onDown(event) {
    if (event.button !== 0) return;
    const point = at(event);
    press = { from: point, last: point, moved: false, marks: event.shiftKey || Boolean(handlers.marks?.()) };
    node.setPointerCapture(event.pointerId);
  }

  function onMove(event) {
    const point = at(event);
    if (!press) return handlers.onHover?.(point);
    if (!press.moved && Math.hypot(point.x - press.from.x, point.y - press.from.y) < CLICK_SLACK) return;
    press.moved = true;
    if (press.marks) handlers.onMark?.(press.from, point, false);
    else handlers.onPan?.(point.x - press.last.x, point.y - press.last.y);
    press.last = point;
  }

  function onUp(event) {
    if (!press) return;
    const { from, moved, marks } = press;
    press = null;
    if (!moved) handlers.onClick?.(at(event));
    else if (marks) handlers.onMark?.(from, at(event), true);
  }

  function onCancel() {
    press = null;
  }

  node.addEventListener("pointerdown", onDown);
  node.addEventListener("pointermove", onMove);
  node.addEventListener("pointerup", onUp);
  node.addEventListener("pointercancel", onCancel);
  node.addEventListener("pointerleave", () => {
    if (!press) handlers.onLeave?.();
  });
  node.addEventListener("dblclick", () => handlers.onDouble?.());
  if (handlers.onWheel)
    node.addEventListener("wheel", (event) => handlers.onWheel(event, at(event)), { passive: false });
}
