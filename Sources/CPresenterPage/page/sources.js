/**
 * The sources of this computer and their pictures, followed while they are shown. A microphone or a camera is used only
 * after a click that tries it.
 */

import { Events } from "./events.js";

const WIDTH = 320; // px, of a picture at most

/**
 * @typedef {object} Handlers
 * @property {() => void} listed there are other sources
 * @property {(spec: string, image: string) => void} pictured a source looks different
 * @property {(peak: number) => void} heard the level of the microphone, in dBFS
 * @property {(kind: "microphone" | "camera", reason: string) => void} failed a microphone or camera gives nothing
 * @property {(reason: string) => void} lost there is no list
 */

export class Sources {
  /** The lists of sources by their kinds, as they come. @type {Record<string, object[]>} */
  lists = {};
  /** The reasons why lists are empty. @type {Record<string, string>} */
  reasons = {};
  /** The pictures by SPEC. @type {Map<string, string>} */
  pictures = new Map();
  /** The microphone and the camera that are tried, by kind. @type {{ microphone?: string, camera?: string }} */
  tried = {};
  #handlers;
  #events;
  #isShown = false;

  /** @param {Handlers} handlers */
  constructor(handlers) {
    this.#handlers = handlers;
    this.#events = new Events(() => `v1/sources/events?${new URLSearchParams({ width: WIDTH, ...this.tried })}`, {
      take: (type, data) => this.#take(type, data),
      lost: ({ message }) => message && handlers.lost(message),
    });
    document.addEventListener("visibilitychange", () => this.#isShown && (document.hidden ? this.#rest() : this.start()));
  }

  start() {
    this.#isShown = true;
    if (!document.hidden) this.#events.start();
  }

  stop() {
    this.#isShown = false;
    this.#rest();
  }

  /** Without a page that can be seen, nothing is tried. */
  #rest() {
    this.#end("camera");
    this.tried = {};
    this.#events.stop();
    this.#handlers.listed();
  }

  /** Tries a microphone or a camera. @param {"microphone" | "camera"} kind @param {string} [spec] undefined: ends that */
  try(kind, spec) {
    if (this.tried[kind] === spec) return;
    this.#end(kind);
    if (spec) this.tried[kind] = spec;
    this.#events.stop();
    this.start();
    this.#handlers.listed();
  }

  #end(kind) {
    this.pictures.delete(this.tried[kind]);
    delete this.tried[kind];
  }

  #take(type, data) {
    if (type === "image") {
      this.pictures.set(data.spec, data.image);
      this.#handlers.pictured(data.spec, data.image);
    } else if (type === "level") {
      this.#handlers.heard(data.peak);
    } else if (type === "problem") {
      this.#handlers.failed(data.spec.startsWith("camera") ? "camera" : "microphone", data.reason);
    } else {
      const { problems, ...lists } = data;
      Object.assign(this.lists, lists);
      for (const kind of Object.keys(lists)) this.reasons[kind] = problems?.[kind];
      if (type === "screens") this.#forget();
      this.#handlers.listed();
    }
  }

  /** Forgets the pictures of windows that are closed. */
  #forget() {
    const open = new Set(this.lists.windows?.map(({ spec }) => spec));
    for (const spec of this.pictures.keys()) if (spec.startsWith("window:") && !open.has(spec)) this.pictures.delete(spec);
  }
}
