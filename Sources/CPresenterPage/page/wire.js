/**
 * The wire between the presenter (a screen) and viewers (dots), as on the page for viewers: a gate closes it, two bars
 * pause it, an empty dot is somebody who does not watch yet.
 */

const MOST = 6; // dots
const STEP = 20;

/** @param {SVGElement} svg @param {{ dots: boolean[], isPaused?: boolean, isLocked?: boolean, isCut?: boolean }} look a dot is true: watches */
export function drawWire(svg, { dots, isPaused = false, isLocked = false, isCut = false }) {
  const shown = (dots.length ? dots : [false]).slice(0, MOST);
  const isBroken = isPaused || isLocked || isCut;
  const parts = [
    isCut ? '<rect class="off" x="2" y="4" width="30" height="20" rx="4.5"/>' : '<rect class="solid" x="2" y="4" width="30" height="20" rx="4.5"/>',
    isCut ? "" : isBroken ? '<path class="dots" d="M36 14H58M82 14H96"/>' : '<path class="dots" d="M36 14H96"/>',
    isPaused ? '<path d="M66.500 9V19M73.500 9V19"/>' : isLocked ? '<path d="M70 5V23"/>' : "",
    ...shown.map((watches, index) => `<circle class="${isCut ? "off" : watches ? "solid" : ""}" cx="${108 + STEP * index}" cy="14" r="7"/>`),
  ];
  const drawing = parts.join("");
  if (svg.dataset.drawing === drawing) return;
  svg.dataset.drawing = drawing;
  svg.setAttribute("viewBox", `0 0 ${118 + STEP * (shown.length - 1)} 28`);
  svg.innerHTML = drawing;
}
