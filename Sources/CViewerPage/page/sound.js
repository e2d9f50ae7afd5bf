/**
 * The share's sounds, off until asked for. Each has an element that lives as long as the page: a browser that let it
 * play once, because of a click, lets it play the next connection's sound as well.
 */

/** @typedef {import("./session.js").Role} Role */

export class Sound {
  isOn = false;
  #elements = new Map();
  #changed;

  /** @param {() => void} changed */
  constructor(changed) {
    this.#changed = changed;
  }

  get exists() {
    return this.#elements.size > 0;
  }

  /** @param {Role} role @param {MediaStreamTrack} track */
  take(role, track) {
    const element = this.#elements.get(role) ?? new Audio();
    this.#elements.set(role, element);
    element.srcObject = new MediaStream([track]);
    element.muted = !this.isOn;
    if (this.isOn) this.#play(element);
    this.#changed();
  }

  /** To be called in a click or a key press: browsers want one. @param {boolean} isOn */
  turn(isOn) {
    this.isOn = isOn;
    for (const element of this.#elements.values()) {
      element.muted = !isOn;
      if (isOn) this.#play(element);
      else element.pause();
    }
    this.#changed();
  }

  stop() {
    for (const element of this.#elements.values()) element.srcObject = null;
    this.#elements.clear();
    this.#changed();
  }

  async #play(element) {
    try {
      await element.play();
    } catch (error) {
      // The browser wants a click first: the button says so again.
      if (error.name === "NotAllowedError") this.turn(false);
    }
  }
}
