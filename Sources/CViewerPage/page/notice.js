/** Shows a state's words: in the middle of an empty stage, or as a strip above the last picture. */

import { number, text } from "./language.js";

/** @typedef {import("./words.js").Words} Words */

const find = (id) => document.getElementById(id);

export class Notice {
  #element = find("notice");
  #announcement = find("announcement");
  #announced = "";
  #timer = 0;

  /** @param {() => void} retry */
  constructor(retry) {
    find("notice-retry").addEventListener("click", retry);
  }

  /** @param {Words | undefined} words @param {boolean} isOverPicture @param {number | undefined} retryAt ms of performance.now() */
  show(words, isOverPicture, retryAt) {
    document.body.dataset.state = words?.state ?? "live";
    this.#element.hidden = !words;
    this.#element.classList.toggle("strip", isOverPicture);
    if (words) {
      put("notice-title", words.title);
      put("notice-text", words.text);
      put("notice-hint", words.hint);
      put("notice-command", words.code, "code");
      find("notice-again").hidden = !words.canRetry && retryAt === undefined;
      find("notice-retry").hidden = !words.canRetry;
    }
    this.#countDown(words ? retryAt : undefined);
    this.#announce(words);
  }

  /** Not announced: a countdown read aloud helps nobody. @param {number | undefined} retryAt */
  #countDown(retryAt) {
    clearInterval(this.#timer);
    const count = () => {
      const seconds = retryAt === undefined ? 0 : Math.ceil((retryAt - performance.now()) / 1000);
      const time = number(seconds, { style: "unit", unit: "second" });
      find("notice-when").textContent = seconds > 1 ? text("retry.in", { time }) : text("retry.now");
    };
    count();
    if (retryAt !== undefined) this.#timer = setInterval(count, 1000);
  }

  #announce(words) {
    const sentence = words ? [words.title, words.text, words.hint, words.code].filter(Boolean).join(" ") : text("live.announcement");
    if (sentence === this.#announced) return;
    this.#announced = sentence;
    this.#announcement.textContent = sentence;
  }
}

function put(id, words, part) {
  const element = find(id);
  element.hidden = !words;
  (part ? element.querySelector(part) : element).textContent = words ?? "";
}
