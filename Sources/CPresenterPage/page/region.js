/** A part of the screen: drawn on its picture, or typed. */

import { request } from "./api.js";
import { find } from "./list.js";

const PATH = "v1/image?spec=display&width=1280";
const LEAST = 16; // pixels of the screen: anything less was a click

export class Region {
  #changed;
  #element = find("region");
  #place = find("region-picture");
  /** The size of the screen. */
  #screen = { width: 0, height: 0 };
  /** @type {number[]} x, y, width and height, in pixels of the screen */
  #area = [0, 0, 0, 0];

  /** @param {() => void} changed */
  constructor(changed) {
    this.#changed = changed;
    this.#place.addEventListener("pointerdown", (event) => this.#draw(event));
    this.#element.addEventListener("input", () => this.#take(this.#fields.map(({ valueAsNumber }) => valueAsNumber || 0), true));
    // Other values than those that are shared are shown as what they became.
    this.#element.addEventListener("change", () => this.#show());
    find("region-again").addEventListener("click", () => this.#load());
  }

  get #fields() {
    return [...this.#element.querySelectorAll("input")];
  }

  /** The SPEC; empty without a screen. */
  get spec() {
    const [x, y, width, height] = this.#area;
    return width > 1 && height > 1 ? `region:${width}x${height}+${x}+${y}` : "";
  }

  /** Takes the area of a SPEC. @param {string} spec */
  set spec(spec) {
    const found = /^region:(\d+)x(\d+)\+(\d+)\+(\d+)$/.exec(spec);
    if (!found) return;
    const [width, height, x, y] = found.slice(1).map(Number);
    this.#area = [x, y, width, height];
    if (this.#screen.width) this.#take(this.#area);
  }

  /** @param {{ width: number, height: number }} screen */
  set screen({ width, height }) {
    if (width === this.#screen.width && height === this.#screen.height) return;
    this.#screen = { width, height };
    this.#place.style.aspectRatio = `${width} / ${height}`;
    const isNew = this.#area[2] === 0;
    this.#take(isNew ? [width / 4, height / 4, width / 2, height / 2] : this.#area);
    if (this.isShown) this.#load();
  }

  get isShown() {
    return !this.#element.hidden;
  }

  set isShown(isShown) {
    if (isShown === this.isShown) return;
    this.#element.hidden = !isShown;
    if (isShown) this.#load();
  }

  async #load() {
    try {
      const response = await request("GET", PATH);
      const image = this.#place.querySelector("img");
      URL.revokeObjectURL(image.src);
      image.src = URL.createObjectURL(await response.blob());
      image.hidden = false;
    } catch {
      // The area can be typed, and drawn without a picture.
    }
  }

  #draw(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const before = this.#area;
    const { left, top, width, height } = this.#place.getBoundingClientRect();
    const at = ({ clientX, clientY }) => [
      within((clientX - left) / width, 1) * this.#screen.width,
      within((clientY - top) / height, 1) * this.#screen.height,
    ];
    const [x, y] = at(event);
    const move = (event) => {
      const [otherX, otherY] = at(event);
      this.#take([Math.min(x, otherX), Math.min(y, otherY), Math.abs(otherX - x), Math.abs(otherY - y)]);
    };
    const end = () => {
      this.#place.removeEventListener("pointermove", move);
      if (this.#area[2] < LEAST || this.#area[3] < LEAST) this.#take(before);
    };
    this.#place.setPointerCapture(event.pointerId);
    this.#place.addEventListener("pointermove", move);
    this.#place.addEventListener("lostpointercapture", end, { once: true });
  }

  /** Takes the part of an area that is on the screen. @param {number[]} area @param {boolean} [isTyped] keeps the fields as they are */
  #take(area, isTyped = false) {
    const { width: most, height: highest } = this.#screen;
    const [x, y, width, height] = area.map(Math.round);
    const [left, top] = [within(x, most - 2), within(y, highest - 2)];
    this.#area = [left, top, within(width, most - left), within(height, highest - top)];
    this.#show(isTyped);
    this.#changed();
  }

  #show(isTyped) {
    const { width, height } = this.#screen;
    const [x, y, ...size] = this.#area;
    const limits = [width - 2, height - 2, width - x, height - y];
    this.#fields.forEach((field, index) => {
      field.max = String(limits[index]);
      if (!isTyped) field.value = String(this.#area[index]);
    });
    const { style } = this.#place.querySelector(".area");
    const share = (part, whole) => `${(100 * part) / (whole || 1)}%`;
    [style.left, style.top] = [share(x, width), share(y, height)];
    [style.width, style.height] = [share(size[0], width), share(size[1], height)];
  }
}

const within = (value, most) => Math.max(0, Math.min(most, value));
