/** What hands do on the stage: a tap, a drag, two fingers, a wheel. */

/**
 * @typedef {object} Gestures
 * @property {() => void} tap by touch or pen
 * @property {(dx: number, dy: number) => void} pan
 * @property {(factor: number, at: { x: number, y: number }) => void} zoom
 * @property {() => void} settle the fingers are gone
 */

const TAP_DISTANCE = 10; // CSS pixels
const TAP_TIME = 500; // ms
/** Of a wheel that tells lines or pages. */
const LINE = 16;

/** @param {HTMLElement} stage @param {Gestures} gestures */
export function listen(stage, gestures) {
  const fingers = new Map();
  let isTap = false;
  let began = 0;
  let travelled = 0;

  const place = (event) => {
    const { left, top } = stage.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  };

  const spread = () => {
    const [one, two] = [...fingers.values()];
    return {
      distance: Math.hypot(one.x - two.x, one.y - two.y),
      middle: { x: (one.x + two.x) / 2, y: (one.y + two.y) / 2 },
    };
  };

  stage.addEventListener("pointerdown", (event) => {
    if (event.pointerType === "mouse" && event.button !== 0) return;
    if (event.target.closest(".corner")) return;
    if (fingers.size === 2) return;
    fingers.set(event.pointerId, place(event));
    stage.setPointerCapture(event.pointerId);
    isTap = event.pointerType !== "mouse" && fingers.size === 1;
    began = event.timeStamp;
    travelled = 0;
    stage.classList.add("held");
  });

  stage.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const now = place(event);
    const earlier = fingers.size === 2 ? spread() : undefined;
    fingers.set(event.pointerId, now);
    travelled += Math.hypot(now.x - before.x, now.y - before.y);
    if (earlier) {
      const { distance, middle } = spread();
      gestures.pan(middle.x - earlier.middle.x, middle.y - earlier.middle.y);
      if (earlier.distance > 0) gestures.zoom(distance / earlier.distance, middle);
    } else if (!isTap || travelled > TAP_DISTANCE) {
      isTap = false;
      gestures.pan(now.x - before.x, now.y - before.y);
    }
  });

  const release = (event) => {
    if (!fingers.delete(event.pointerId)) return;
    if (isTap && event.type === "pointerup" && event.timeStamp - began < TAP_TIME) gestures.tap();
    isTap = false;
    if (fingers.size > 0) return;
    stage.classList.remove("held");
    gestures.settle();
  };
  stage.addEventListener("pointerup", release);
  stage.addEventListener("pointercancel", release);

  // A trackpad's pinch comes as a wheel with Ctrl.
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : LINE;
    if (event.ctrlKey || event.metaKey) {
      gestures.zoom(Math.exp(-Math.max(-50, Math.min(50, event.deltaY * unit)) / 150), place(event));
      gestures.settle();
    } else {
      const isSideways = event.shiftKey && event.deltaX === 0;
      gestures.pan(-(isSideways ? event.deltaY : event.deltaX) * unit, isSideways ? 0 : -event.deltaY * unit);
    }
  }, { passive: false });
}
