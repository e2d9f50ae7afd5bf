/** The messages of the program, newest first, with their remedies. Warnings are at the top of the page until they are closed. */

import { announce } from "./announcement.js";
import { text } from "./language.js";
import { List, find, make, reveal } from "./list.js";
import { remedyElement } from "./problem.js";
import { clock, isWarning } from "./words.js";

/** At most. */
const MESSAGES = 8;
const WARNINGS = 3;

/** @typedef {{ id: number, time: string, text: string, remedy?: string }} Message */

export class Messages {
  #messages;
  #warnings;
  /** The newest messages. @type {Message[]} */
  #all = [];
  /** The warnings by their texts: the share forgets old messages. A closed one is undefined. @type {Map<string, Message | undefined>} */
  #kept = new Map();
  #newest;

  /** @param {() => void} chooseSource for the remedy that is another source */
  constructor(chooseSource) {
    const rows = (look, button) => ({
      make: (message) => {
        const time = make("time", { datetime: message.time }, clock(new Date(message.time)));
        const words = make("div", { class: "words" }, make("p", { lang: "en", dir: "ltr" }, message.text), ...[remedyElement(message.remedy, chooseSource)].filter(Boolean));
        return make("li", { class: look }, time, words, ...button(message));
      },
      fill: () => {},
    });
    this.#messages = new List(find("messages").querySelector("ul"), find("messages-title"), rows("message", () => []));
    this.#warnings = new List(find("warnings").querySelector("ul"), find("headline"), rows("message problem", (message) => [this.#closer(message)]));
  }

  /** @param {Message[]} messages */
  show(messages) {
    this.#all = messages.toReversed();
    const last = this.#all[0]?.id ?? 0;
    // Another share counts from the beginning.
    if (last < this.#newest) this.forget();
    const isNews = ({ id }) => id > (this.#newest ?? 0);
    for (const message of messages.filter(isNews)) {
      if (this.#newest !== undefined) announce(message.text);
      if (isWarning(message)) this.#kept.set(message.text, message);
    }
    this.#newest = last;
    this.#list();
  }

  /** Forgets the messages of a share. */
  forget() {
    this.#kept.clear();
    this.#newest = undefined;
  }

  clear() {
    this.#messages.clear();
    this.#warnings.clear();
  }

  #list() {
    const open = [...this.#kept.values()].filter(Boolean).toSorted(newestFirst).slice(0, WARNINGS);
    const shown = new Set(open.map(({ text }) => text));
    const others = this.#all.filter((message) => !shown.has(message.text)).slice(0, MESSAGES);
    this.#warnings.show(open.map(keyed));
    // After the list: hiding the focused button would take the focus away first.
    reveal(find("warnings"), open.length);
    this.#messages.show(others.map(keyed));
    reveal(find("messages").querySelector(".empty"), others.length === 0);
  }

  #closer(message) {
    const button = make("button", { type: "button", class: "close", "aria-label": text("close") });
    button.innerHTML = '<svg aria-hidden="true"><use href="#icon-close"/></svg>';
    button.addEventListener("click", () => {
      this.#kept.set(message.text, undefined);
      this.#list();
    });
    return button;
  }
}

const newestFirst = (a, b) => b.id - a.id;

/** Another share can have a message with the same number. @param {Message} message */
const keyed = (message) => ({ ...message, id: `${message.id} ${message.time}` });
