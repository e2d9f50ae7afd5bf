/** The panel of statistics. It measures while it is open, and at no other time. */

import { duration, number, text } from "./language.js";
import { Statistics, compareClocks } from "./statistics.js";

/** @typedef {import("./session.js").Session} Session */

const PERIOD = 1000; // ms
/** Clocks drift apart by milliseconds an hour, but a laptop's is set now and then. */
const CLOCK_PERIOD = 60_000;

/** Each is also the end of a text's key. */
const ROWS = ["size", "scale", "codec", "frames", "rate", "loss", "roundTrip", "path", "delay"];

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
      term.dataset.text = `statistics.${name}`;
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
    const { framesPerSecond, kilobits, loss, roundTrip, path, age, codec } = sample;
    const percent = (value, digits = 0) => number(value, { style: "percent", minimumFractionDigits: digits, maximumFractionDigits: digits });
    const route = path && text(path.isRelayed ? "path.relayed" : "path.direct");
    this.#show("size", size.width ? `\u2066${size.width} × ${size.height}\u2069` : undefined);
    this.#show("scale", size.width ? percent(scale * devicePixelRatio) : undefined);
    this.#show("codec", codec);
    this.#show("frames", framesPerSecond === undefined ? undefined : number(Math.round(framesPerSecond)));
    this.#show("rate", kilobits === undefined ? undefined : text("rate.value", { kilobits: Math.round(kilobits) }));
    this.#show("loss", loss === undefined ? undefined : percent(loss, 1));
    this.#show("roundTrip", roundTrip === undefined ? undefined : duration(roundTrip));
    this.#show("path", path && [route, path.protocol].filter(Boolean).join(" · "));
    this.#show("delay", age && `${age.isEstimate ? "≈ " : ""}${duration(age.ms)}`);
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
