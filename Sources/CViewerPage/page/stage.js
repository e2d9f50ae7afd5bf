/** The tiles and where they lie: what is shared as large as it may, the attendee's own picture in a corner. */

import { text } from "./language.js";
import { Tile } from "./tile.js";
import { View } from "./view.js";

/** @typedef {import("./session.js").Role} Role */

const CORNERS = ["bottom-right", "bottom-left", "top-left", "top-right"];

export class Stage {
  view = new View();
  #element;
  #changed;
  #tiles;
  /** Tiles that the share says are off. @type {Set<Role>} */ #off = new Set();
  #corner = 0;

  /** @param {HTMLElement} element @param {() => void} changed what is shown, or how large */
  constructor(element, changed) {
    this.#element = element;
    this.#changed = changed;
    this.#tiles = { content: new Tile("screen", () => this.layout()), own: new Tile("camera", () => this.layout()) };
    element.append(this.#tiles.content.element, this.#tiles.own.element);
    this.#tiles.own.element.addEventListener("click", () => this.#isCorner && this.#nextCorner());
    this.#tiles.own.element.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.#nextCorner();
    });
    new ResizeObserver(() => this.layout()).observe(element);
    this.#watchPixelRatio();
  }

  #isShown(role) {
    return this.#tiles[role].hasPicture && !this.#off.has(role);
  }

  get #isCorner() {
    return this.#isShown("content") && this.#isShown("own");
  }

  /** The large one; the attendee's own where nothing else is shared. */
  get main() {
    return this.#isShown("own") && !this.#isShown("content") ? this.#tiles.own : this.#tiles.content;
  }

  get hasPicture() {
    return this.#isShown("content") || this.#isShown("own");
  }

  /** Whether a video waits for a click or a key press. */
  get isBlocked() {
    return Object.values(this.#tiles).some((tile) => tile.isBlocked);
  }

  /** @param {Role} role @param {string} stream @param {MediaStreamTrack} track */
  show(role, stream, track) {
    this.#tiles[role].stream = stream;
    this.#tiles[role].show(track);
  }

  /** @param {import("./session.js").TileState[]} tiles as the share tells */
  setStates(tiles) {
    this.#off.clear();
    for (const role of ["content", "own"]) {
      const told = tiles.find(({ stream }) => stream === this.#tiles[role].stream);
      if (told?.state === "off") this.#off.add(role);
      this.#tiles[role].element.classList.toggle("paused", told?.state === "paused");
    }
    this.layout();
  }

  freeze() {
    Object.values(this.#tiles).forEach((tile) => tile.freeze());
  }

  thaw() {
    Object.values(this.#tiles).forEach((tile) => tile.thaw());
  }

  play() {
    Object.values(this.#tiles).forEach((tile) => tile.play());
  }

  clear() {
    Object.values(this.#tiles).forEach((tile) => tile.clear());
  }

  layout() {
    const main = this.main;
    this.view.stage = { width: this.#element.clientWidth, height: this.#element.clientHeight };
    this.view.picture = main.size;
    this.view.pixelRatio = devicePixelRatio;
    for (const [role, tile] of Object.entries(this.#tiles)) {
      const isCorner = tile !== main && this.#isCorner;
      const { element } = tile;
      element.hidden = !this.#isShown(role);
      element.classList.toggle("corner", isCorner);
      element.dataset.corner = CORNERS[this.#corner];
      if (isCorner) {
        element.setAttribute("role", "button");
        element.setAttribute("aria-label", text("camera.move"));
        element.tabIndex = 0;
      } else {
        element.removeAttribute("role");
        element.removeAttribute("aria-label");
        element.removeAttribute("tabindex");
      }
      const { left, top, width, height } = this.view.box;
      Object.assign(element.style, isCorner
        ? { transform: "", width: "", height: "", aspectRatio: `${tile.size.width} / ${tile.size.height}` }
        : { transform: `translate(${left}px, ${top}px)`, width: `${width}px`, height: `${height}px`, aspectRatio: "" });
    }
    this.#element.classList.toggle("pannable", this.view.isLarger);
    // Large pixels are looked at to see what they are.
    this.#element.classList.toggle("magnified", this.view.scale * devicePixelRatio >= 3);
    this.#changed();
  }

  #nextCorner() {
    this.#corner = (this.#corner + 1) % CORNERS.length;
    this.layout();
  }

  /** It changes with the browser's zoom, and when the window goes to another screen. */
  #watchPixelRatio() {
    matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => {
      this.layout();
      this.#watchPixelRatio();
    }, { once: true });
  }
}
