/** Server-sent events. They are read with `fetch`: an EventSource can't send the secret in a header. */

import { Problem, request } from "./api.js";

/** Waits before the attempts to reach the share again, in ms. After the last one the page waits for a click. */
const WAITS = [500, 1000, 2000, 4000, 8000, 8000, 8000, 8000];

/** A stream that is cut within this time (ms) after the end of a share is over. A later one can start another share. */
export const SETTLED = 500;

/**
 * @typedef {object} Handlers
 * @property {(type: string, data: object) => void} take an event
 * @property {(problem: Problem, isLast: boolean) => void} lost the stream is cut, or was refused; after the last one, `start` must be called again
 */

export class Events {
  #path;
  #handlers;
  #silence;
  #attempts = 0;
  #isResting = false;
  /** When a share ended. */
  #end = -SETTLED;
  /** @type {AbortController | undefined} ends the stream; undefined while there is none */
  #run;

  /** @param {() => string} path @param {Handlers} handlers @param {number} [silence] ms after which a silent stream is broken */
  constructor(path, handlers, silence) {
    this.#path = path;
    this.#handlers = handlers;
    this.#silence = silence;
  }

  get isRunning() {
    return this.#run !== undefined;
  }

  /** Reads a stream, and another one whenever it is cut. */
  start() {
    if (this.#run) return;
    this.#isResting = false;
    this.#attempts = 0;
    this.#end = -SETTLED;
    this.#repeat((this.#run = new AbortController()));
  }

  stop() {
    this.#run?.abort();
    this.#run = undefined;
  }

  /** Ends the stream until `resume`. */
  rest() {
    if (!this.#run) return;
    this.stop();
    this.#isResting = true;
  }

  resume() {
    if (this.#isResting) this.start();
  }

  /** @param {AbortController} run */
  async #repeat(run) {
    while (true) {
      const problem = await this.#follow(run);
      if (this.#run !== run) return;
      const wait = problem.status === 0 || problem.status >= 500 ? WAITS[this.#attempts++] : undefined;
      const isOver = performance.now() - this.#end < SETTLED;
      if (isOver || wait === undefined) this.#run = undefined;
      if (isOver) return;
      this.#handlers.lost(problem, wait === undefined);
      if (wait === undefined) return;
      await new Promise((done) => setTimeout(done, wait));
      if (this.#run !== run) return;
    }
  }

  /** Reads one stream. @param {AbortController} run @returns {Promise<Problem>} when it is cut or refused */
  async #follow(run) {
    const silence = new AbortController();
    let timer = 0;
    const listen = () => {
      clearTimeout(timer);
      if (this.#silence) timer = setTimeout(() => silence.abort(), this.#silence);
    };
    listen();
    const signal = AbortSignal.any([run.signal, silence.signal]);
    const response = await request("GET", this.#path(), undefined, signal).catch((problem) => problem);
    if (response instanceof Problem) return clearTimeout(timer), response;
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const read = () => reader.read().catch(() => ({ done: true }));
    let text = "";
    for (let { done, value } = await read(); !done && !run.signal.aborted; { done, value } = await read()) {
      listen();
      const events = (text + value).split("\n\n");
      text = events.pop();
      try {
        for (const event of events) if (!run.signal.aborted) this.#take(event);
      } catch (error) {
        // What the page can't show must not leave an old state on it.
        silence.abort();
        return clearTimeout(timer), new Problem(-1, { detail: String(error) });
      }
    }
    clearTimeout(timer);
    return new Problem(0);
  }

  /** @param {string} event its lines; one without data is a comment */
  #take(event) {
    const fields = event.split("\n").map((line) => line.split(/: ?(.*)/s));
    const data = fields.filter(([name]) => name === "data").map(([, value]) => value).join("\n");
    if (!data) return;
    this.#attempts = 0;
    const type = fields.findLast(([name]) => name === "event")?.[1] ?? "";
    if (type === "ended") this.#end = performance.now();
    this.#handlers.take(type, JSON.parse(data));
  }
}
