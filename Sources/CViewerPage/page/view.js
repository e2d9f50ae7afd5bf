/** Which part of a picture is seen, how large: plain numbers, in CSS pixels of the stage. */

/** @typedef {{ width: number, height: number }} Size */

const LARGEST = 8;

export class View {
  /** "fit": as large as fits; "actual": a pixel of the picture is one of the screen; "free": as pinched. */
  mode = "fit";
  #scale = 1;
  /** The place of the picture that is in the middle of the stage, from 0 to 1. */
  #x = 0.5;
  #y = 0.5;
  stage = { width: 1, height: 1 };
  picture = { width: 0, height: 0 };
  pixelRatio = 1;

  get fitting() {
    const { stage, picture } = this;
    return picture.width && picture.height ? Math.min(stage.width / picture.width, stage.height / picture.height) : 1;
  }

  get actual() {
    return 1 / this.pixelRatio;
  }

  get scale() {
    return this.mode === "fit" ? this.fitting : this.mode === "actual" ? this.actual : this.#scale;
  }

  /** Whether something of the picture lies outside the stage. */
  get isLarger() {
    const { width, height } = this.#size;
    return width > this.stage.width + 0.5 || height > this.stage.height + 0.5;
  }

  get #size() {
    return { width: this.picture.width * this.scale, height: this.picture.height * this.scale };
  }

  /** Where the picture lies; on whole pixels of the screen, or 1:1 would blur. */
  get box() {
    const { width, height } = this.#size;
    const whole = (length) => Math.round(length * this.pixelRatio) / this.pixelRatio;
    const left = offset(this.stage.width, width, this.#x);
    const top = offset(this.stage.height, height, this.#y);
    return { left: whole(left), top: whole(top), width, height };
  }

  fit() {
    this.mode = "fit";
    this.#x = this.#y = 0.5;
  }

  /** @param {{ x: number, y: number }} [at] of the stage, which stays where it is */
  showActual(at) {
    this.#rescale(this.actual, at);
    this.mode = "actual";
  }

  /** @param {number} factor @param {{ x: number, y: number }} [at] */
  zoom(factor, at) {
    const least = Math.min(this.fitting, this.actual);
    this.#rescale(Math.min(LARGEST * this.actual, Math.max(least, this.scale * factor)), at);
    this.mode = "free";
  }

  /** What is about as small as fits is meant to fit. */
  settle() {
    if (this.mode === "free" && Math.abs(this.scale / this.fitting - 1) < 0.03) this.fit();
  }

  /** @param {number} dx @param {number} dy of the fingers, or of the hand that holds the picture */
  pan(dx, dy) {
    const { width, height } = this.#size;
    if (!width || !height) return;
    const { left, top } = this.box;
    this.#x = center(this.stage.width, width, left + dx);
    this.#y = center(this.stage.height, height, top + dy);
  }

  #rescale(scale, at = { x: this.stage.width / 2, y: this.stage.height / 2 }) {
    const { left, top, width, height } = this.box;
    if (!width || !height) return;
    const factor = scale / this.scale;
    this.#scale = scale;
    this.mode = "free";
    this.#x = center(this.stage.width, width * factor, at.x - (at.x - left) * factor);
    this.#y = center(this.stage.height, height * factor, at.y - (at.y - top) * factor);
  }
}

function offset(room, length, middle) {
  if (length <= room) return (room - length) / 2;
  return Math.min(0, Math.max(room - length, room / 2 - middle * length));
}

/** The inverse of offset: no further than where the picture's edge meets the stage's. @param {number} room @param {number} length @param {number} start */
function center(room, length, start) {
  if (length <= room) return 0.5;
  return (room / 2 - Math.min(0, Math.max(room - length, start))) / length;
}
