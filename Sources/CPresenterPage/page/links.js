/** The links for viewers: the best first, where it reaches, and its QR code. */

import { get, request } from "./api.js";
import { copy, copyButton } from "./copy.js";
import { text } from "./language.js";
import { List, find, make, put, reveal } from "./list.js";

/** Routers and networks change now and then. */
const PERIOD = 60_000; // ms
/** A message can be about other links, or about the end of the share, after which there are none. */
const NEWS = 1000; // ms

export class Links {
  #others;
  #first = "";
  /** The places whose QR code is shown, as JSON. */
  #drawn = "";
  #timer = 0;

  constructor() {
    this.#others = new List(find("link-others").querySelector("ul"), find("link-title"), {
      make: ({ id }) => make("li", {}, make("div", { class: "words" }, make("code", { dir: "ltr", translate: "no" }, id), make("p")), copyButton(id, text("copy"))),
      fill: (element, { reach }) => put(element.querySelector("p"), reachOf(reach)),
    });
    find("link-copy").addEventListener("click", () => copy(find("link-copy"), this.#first));
    document.addEventListener("visibilitychange", () => document.hidden || (this.#timer && this.update()));
  }

  /** Requests them soon. */
  updateSoon() {
    this.#wait(NEWS);
  }

  #wait(time) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (document.hidden ? undefined : this.update()), time);
  }

  /** Requests them, and again from time to time. */
  async update() {
    this.#wait(PERIOD);
    const timer = this.#timer;
    try {
      const { places } = await get("v1/links");
      // Of a share that is over, or of an earlier request.
      if (this.#timer !== timer) return;
      this.#show(places);
      await this.#code(places);
    } catch {
      // The events tell whether the share is there.
    }
  }

  stop() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    reveal(find("link"), false);
  }

  clear() {
    this.#others.clear();
  }

  #show([first, ...others]) {
    reveal(find("link"), first);
    if (!first) return;
    this.#first = first.url;
    put(find("link-url").querySelector("code"), first.url);
    put(find("link-reach"), reachOf(first.reach));
    const isFar = [first, ...others].some(({ reach }) => reach === "everywhere");
    reveal(find("link-far"), !isFar);
    put(find("link-far").firstElementChild, isFar ? "" : text("reach.far", { choice: text("internet") }));
    reveal(find("link-others"), others.length > 0);
    this.#others.show(others.map(({ url, reach }) => ({ id: url, reach })));
  }

  /** Draws the QR code of other links than before. @param {{ url: string, reach: string }[]} places */
  async #code(places) {
    const key = JSON.stringify(places);
    if (key === this.#drawn) return;
    // A link that works on this computer only has none.
    const image = places.some(({ reach }) => reach !== "machine") ? await (await request("GET", "v1/links/qr")).text() : "";
    this.#drawn = key;
    reveal(find("link-code"), image);
    const element = find("link-code").querySelector("img");
    URL.revokeObjectURL(element.src);
    element.src = URL.createObjectURL(new Blob([image], { type: "image/svg+xml" }));
  }
}

function reachOf(reach) {
  const words = { everywhere: () => text("reach.everywhere"), network: () => text("reach.network"), machine: () => text("reach.machine") };
  return words[reach]();
}
