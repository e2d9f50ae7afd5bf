/** The last minutes as small graphs, and as a table for people who can't see graphs. */

import { get } from "./api.js";
import { number, text } from "./language.js";
import { find, make, mark, put, reveal } from "./list.js";
import { clock, milliseconds, percent, rate } from "./words.js";

/** Rare on purpose: this page is often on the shared screen, and each change of it is sent to the viewers. */
const PERIOD = 10_000; // ms
const WIDTH = 300;
const HEIGHT = 56;
const POINTS = 100; // at most: a point is the mean of some samples
const MINUTE = 60_000;

/** @typedef {{ name: string, of: (sample: object) => number | undefined, words: (value: number) => string, least: number }} Measure */

/** The graphs. `least` is the smallest value of the upper edge. @type {() => Measure[]} */
const measures = () => [
  { name: text("statistics.rate"), of: ({ bitrate }) => bitrate, words: rate, least: 100 },
  { name: text("statistics.frames"), of: ({ framesPerSecond }) => framesPerSecond, words: (value) => number(Math.round(value)), least: 10 },
  { name: text("statistics.roundTrip"), of: ({ roundTripTime }) => roundTripTime, words: milliseconds, least: 0.05 },
  { name: text("statistics.loss"), of: ({ fractionLost }) => fractionLost, words: percent, least: 0.05 },
];

export class Graph {
  #section = find("history");
  #timer = 0;
  #isRunning = false;

  constructor() {
    document.addEventListener("visibilitychange", () => this.#isRunning && this.#update());
  }

  start() {
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#update();
  }

  stop() {
    this.#isRunning = false;
    clearTimeout(this.#timer);
    this.#show([]);
  }

  /** Draws it in another language. */
  clear() {
    this.#section.querySelector(".graphs").replaceChildren();
    if (this.#isRunning) this.#update();
  }

  async #update() {
    clearTimeout(this.#timer);
    if (document.hidden) return;
    this.#timer = setTimeout(() => this.#update(), PERIOD);
    try {
      const { samples } = await get("v1/share/history");
      if (this.#isRunning) this.#show(samples);
    } catch {
      // The events tell whether the share is there.
    }
  }

  #show(samples) {
    const hasSamples = samples.length > 1;
    reveal(this.#section.querySelector(".empty"), !hasSamples);
    reveal(this.#section.querySelector("details"), hasSamples);
    const place = this.#section.querySelector(".graphs");
    if (!hasSamples) return place.replaceChildren();
    const all = measures();
    if (place.childElementCount !== all.length) place.replaceChildren(...all.map(figure));
    all.forEach((measure, index) => draw(place.children[index], measure, samples));
    this.#fillTable(all, samples);
  }

  /** A row a minute. @param {Measure[]} all @param {object[]} samples */
  #fillTable(all, samples) {
    const minutes = Map.groupBy(samples, ({ time }) => Math.floor(Date.parse(time) / MINUTE) * MINUTE);
    const head = [text("history.time"), ...all.map(({ name }) => name), text("viewers.title")];
    const rows = [...minutes].map(([start, entries]) => {
      const values = all.map(({ of, words }) => written(mean(entries.map(of)), words));
      return [clock(new Date(start)), ...values, number(entries.at(-1).viewers)];
    });
    const table = this.#section.querySelector("table");
    const content = JSON.stringify([head, rows]);
    if (table.dataset.content === content) return;
    table.dataset.content = content;
    table.replaceChildren(
      make("thead", {}, make("tr", {}, ...head.map((name) => make("th", { scope: "col" }, name)))),
      make("tbody", {}, ...rows.map(([time, ...values]) => make("tr", {}, make("th", { scope: "row" }, time), ...values.map((value) => make("td", {}, value))))),
    );
  }
}

const NONE = "–";

const written = (value, words) => (value === undefined ? NONE : words(value));

function mean(values) {
  const known = values.filter((value) => value !== undefined && value !== null);
  return known.length ? known.reduce((sum, value) => sum + value, 0) / known.length : undefined;
}

function figure({ name }) {
  const element = make("figure");
  element.innerHTML = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img"><path class="area"/><path class="line"/></svg>`;
  element.prepend(make("figcaption", {}, make("span", {}, name), make("strong")));
  element.append(make("p"));
  return element;
}

/** @param {HTMLElement} element @param {Measure} measure @param {object[]} samples */
function draw(element, { name, of, words, least }, samples) {
  const size = Math.ceil(samples.length / POINTS);
  const points = [];
  for (let end = samples.length; end > 0; end -= size) points.unshift(mean(samples.slice(Math.max(0, end - size), end).map(of)));
  const now = points.at(-1);
  const known = points.filter((value) => value !== undefined);
  const most = known.length ? Math.max(...known) : undefined;
  const top = Math.max(least, most ?? 0);
  const x = (index) => ((index / Math.max(1, points.length - 1)) * WIDTH).toFixed(1);
  const y = (value) => (HEIGHT - 2 - (value / top) * (HEIGHT - 4)).toFixed(1);
  const [lines, areas] = [[], []];
  for (const run of runs(points)) {
    const line = run.map(([index, value]) => `${x(index)} ${y(value)}`).join("L");
    lines.push(`M${line}`);
    areas.push(`M${x(run[0][0])} ${HEIGHT}L${line}L${x(run.at(-1)[0])} ${HEIGHT}Z`);
  }
  mark(element.querySelector(".line"), "d", lines.join(""));
  mark(element.querySelector(".area"), "d", areas.join(""));
  mark(element.querySelector("svg"), "aria-label", text("history.summary", { name, now: written(now, words), most: written(most, words) }));
  put(element.querySelector("strong"), written(now, words));
  put(element.querySelector("p"), text("history.most", { most: written(most, words) }));
}

/** The parts without a gap: while nobody watches, some values are missing. */
function runs(points) {
  const found = [];
  points.forEach((value, index) => {
    if (value === undefined) return;
    if (index === 0 || points[index - 1] === undefined) found.push([]);
    found.at(-1).push([index, value]);
  });
  return found;
}
