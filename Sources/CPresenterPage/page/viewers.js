/** The viewers, and the condition of each connection. Viewers who wait for approval have a list of their own, above everything else. */

import { announce } from "./announcement.js";
import { text } from "./language.js";
import { List, find, hasMoved, make, mark, put, reveal } from "./list.js";
import { clock, condition, figures, isWatching, nameOf, publication, sentence } from "./words.js";

/** The time (ms) that figures stay. Other changes are shown at once; figures change all the time, also on the shared screen. */
const FIGURES_LAST = 5000;

export class Viewers {
  #act;
  #admission;
  #viewers;
  /** The names of the viewers who wait, and of those who watch, by id. */
  #waiting = new Map();
  #watching;
  #figuresAt = -FIGURES_LAST;

  /** @param {(method: string, path: string, body?: object) => void} act */
  constructor(act) {
    this.#act = act;
    this.#admission = new List(find("admission").querySelector("ul"), find("headline"), {
      make: ({ id }) => this.#row(["admit", "primary", text("viewer.admit"), () => this.admit(id)], ["decline", "quiet", text("viewer.decline"), () => this.remove(id)]),
      fill: (element, viewer) => {
        fill(element, viewer, text("viewer.since", { time: clock(new Date(viewer.since ?? Date.now())) }));
        label(element, "admit", text("viewer.admit.label", { name: nameOf(viewer) }));
        label(element, "decline", text("viewer.decline.label", { name: nameOf(viewer) }));
      },
    });
    this.#viewers = new List(find("viewers").querySelector("ul"), find("viewers-title"), {
      make: (item) => (item.server ? this.#row() : this.#row(["remove", "quiet small", text("viewer.remove"), () => this.remove(item.id)])),
      fill: (element, item) => {
        const isTroubled = Boolean(item.trouble) || ["disconnected", "failed"].includes(item.state);
        mark(element, "data-look", isTroubled ? "troubled" : ["connected", "published"].includes(item.state) ? "well" : "starting");
        const situation = [item.state, item.trouble, item.failure].join();
        if (element.dataset.situation !== situation || this.#areFiguresDue) {
          mark(element, "data-situation", situation);
          const words = item.server ? publication(item) : condition(item);
          fill(element, item, item.failure ? `${words} ${sentence(item.failure)}` : words);
          put(element.querySelector(".figures"), figures(item));
        }
        if (!item.server) label(element, "remove", text("viewer.remove.label", { name: nameOf(item) }));
      },
    });
  }

  get #areFiguresDue() {
    return performance.now() - this.#figuresAt >= FIGURES_LAST;
  }

  /** @param {object} share */
  show(share) {
    const waiting = share.viewers.filter(({ isWaiting }) => isWaiting);
    const others = share.viewers.filter(({ isWaiting }) => !isWaiting);
    const servers = share.servers.map((server) => ({ ...server, id: `server ${server.id}`, server: true }));
    this.#admission.show(waiting);
    // After the list: hiding the focused button would take the focus away first.
    reveal(find("admission"), waiting.length > 0);
    put(find("admission-title"), text("admission.title", { count: waiting.length }));
    this.#viewers.show([...others, ...servers]);
    reveal(find("viewers").querySelector(".empty"), others.length + servers.length === 0);
    if (this.#areFiguresDue) this.#figuresAt = performance.now();
    this.#announce(waiting, others.filter(isWatching));
  }

  /** Forgets the viewers of a share: another one has the same numbers. */
  forget() {
    this.clear();
    this.#waiting.clear();
    this.#watching = undefined;
  }

  clear() {
    this.#admission.clear();
    this.#viewers.clear();
    this.#figuresAt = -FIGURES_LAST;
  }

  /** Viewers who were watching before the page was opened are not announced. */
  #announce(waiting, watching) {
    const names = (viewers) => new Map(viewers.map((viewer) => [viewer.id, nameOf(viewer)]));
    const [nowWaiting, nowWatching] = [names(waiting), names(watching)];
    for (const [id, name] of nowWaiting) if (!this.#waiting.has(id)) announce(text("said.waiting", { name }));
    if (this.#watching) {
      for (const [id, name] of nowWatching) if (!this.#watching.has(id)) announce(text("said.joined", { name }));
      for (const [id, name] of this.#watching) if (!nowWatching.has(id)) announce(text("said.left", { name }));
    }
    this.#waiting = nowWaiting;
    this.#watching = nowWatching;
  }

  /** The viewer who has waited longest. @returns {number | undefined} */
  get first() {
    return this.#waiting.keys().next().value;
  }

  /** @param {number} id */
  admit(id) {
    this.#act("PATCH", `v1/viewers/${id}`, { isAdmitted: true });
  }

  /** @param {number} id */
  remove(id) {
    this.#act("DELETE", `v1/viewers/${id}`);
  }

  /** @param {...[string, string, string, () => void]} buttons what each does, its classes, its text, and what runs */
  #row(...buttons) {
    const sentences = make("div", { class: "words" }, make("p", { class: "name" }, make("strong"), " ", make("span")), make("p", { class: "condition" }), make("p", { class: "figures" }));
    const made = buttons.map(([does, look, words, run]) => {
      const button = make("button", { type: "button", class: look, "data-does": does }, words);
      // The second click of a double click, or one that comes while the rows move, may be meant for another viewer.
      button.addEventListener("click", ({ detail, currentTarget }) => detail === 0 || (detail === 1 && !hasMoved(currentTarget)) ? run() : undefined);
      return button;
    });
    return make("li", {}, make("span", { class: "dot", "aria-hidden": "true" }), sentences, make("div", { class: "buttons" }, ...made));
  }
}

function fill(element, item, words) {
  put(element.querySelector("strong"), item.server ? item.name : nameOf(item));
  put(element.querySelector(".name span"), [item.browser, item.address].filter(Boolean).join(" · "));
  put(element.querySelector(".condition"), words);
}

function label(element, does, words) {
  mark(element.querySelector(`[data-does=${does}]`), "aria-label", words);
}
