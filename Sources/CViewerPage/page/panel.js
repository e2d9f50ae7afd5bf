/** The panel of statistics. It measures while it is open, and at no other time. */

import { Statistics, compareClocks } from "./statistics.js";

/** @typedef {import("./session.js").Session} Session */

const PERIOD = 1000; // ms
/** Clocks drift apart by milliseconds an hour, but a laptop's is set now and then. */
const CLOCK_PERIOD = 60_000;

const ROWS = ["Size", "Shown at", "Frames", "Rate", "Loss", "Round trip", "Path", "Picture’s age"];

export class Panel {
  #element;
  #subject;
  #values = new Map();
  #statistics;
  #clock;
  #clockAt = -Infinity;
  #timer = 0;

  /**
   * @param {HTMLElement} element
   * @param {() => { session: Session | undefined, track: MediaStreamTrack | undefined, size: import("./view.js").Size, scale: number }} subject
   */
  constructor(element, subject) {
    this.#element = element;
    this.#subject = subject;
    const list = element.querySelector("dl");
    for (const name of ROWS) {
      const term = document.createElement("dt");
      const value = document.createElement("dd");
      term.textContent = name;
      value.textContent = "–";
      list.append(term, value);
      this.#values.set(name, value);
    }
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  /** @param {boolean} isOpen */
  toggle(isOpen) {
    if (isOpen === this.isOpen) return;
    this.#element.hidden = !isOpen;
    clearInterval(this.#timer);
    this.#statistics = undefined;
    if (!isOpen) return;
    this.#timer = setInterval(() => this.#refresh(), PERIOD);
    this.#refresh();
  }

  async #refresh() {
    const { session, track, size, scale } = this.#subject();
    if (!session || session.isClosed) return;
    if (this.#statistics?.connection !== session.connection) {
      this.#statistics = new Statistics(session.connection, track);
      this.#clockAt = -Infinity;
    }
    if (performance.now() - this.#clockAt > CLOCK_PERIOD) this.#askForTime(session);
    const sample = await this.#statistics.sample(this.#clock).catch(() => undefined);
    if (!sample || !this.isOpen) return;
    const { framesPerSecond, kilobits, loss, roundTrip, path, age } = sample;
    this.#show("Size", size.width ? `${size.width} × ${size.height}` : undefined);
    this.#show("Shown at", size.width ? `${Math.round(scale * devicePixelRatio * 100)} %` : undefined);
    this.#show("Frames", framesPerSecond === undefined ? undefined : `${Math.round(framesPerSecond)} a second`);
    this.#show("Rate", kilobits === undefined ? undefined : `${Math.round(kilobits).toLocaleString("en")} kbit/s`);
    this.#show("Loss", loss === undefined ? undefined : `${(loss * 100).toFixed(1)} %`);
    this.#show("Round trip", roundTrip === undefined ? undefined : milliseconds(roundTrip));
    this.#show("Path", path && `${path.isRelayed ? "relayed" : "direct"}${path.protocol && `, ${path.protocol}`}`);
    this.#show("Picture’s age", age && `${age.isEstimate ? "≈ " : ""}${milliseconds(age.ms)}`);
  }

  async #askForTime(session) {
    this.#clockAt = performance.now();
    const { resource } = session;
    if (!resource) return;
    const signal = new AbortController().signal;
    this.#clock = await compareClocks(() => resource.time(signal)).catch(() => undefined);
  }

  #show(name, value) {
    this.#values.get(name).textContent = value ?? "–";
  }
}

const milliseconds = (ms) => (ms < 10 ? `${ms.toFixed(1)} ms` : ms < 10_000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`);
