/** Shows a state's words: in the middle of an empty stage, or as a strip above the last picture. */

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
      put("notice-command", words.command, "code");
      find("notice-again").hidden = !words.canRetry && retryAt === undefined;
      find("notice-retry").hidden = !words.canRetry;
    }
    this.#countDown(words ? retryAt : undefined);
    this.#announce(words);
  }

  /** Not part of what is announced: a countdown read aloud is of no use to anybody. @param {number | undefined} retryAt */
  #countDown(retryAt) {
    clearInterval(this.#timer);
    const tell = () => {
      const seconds = retryAt === undefined ? 0 : Math.ceil((retryAt - performance.now()) / 1000);
      find("notice-when").textContent = seconds > 1 ? `next try in ${seconds} s` : "trying";
    };
    tell();
    if (retryAt !== undefined) this.#timer = setInterval(tell, 1000);
  }

  #announce(words) {
    const text = words ? [words.title, words.text, words.hint, words.command].filter(Boolean).join(" ") : "The picture is live.";
    if (text === this.#announced) return;
    this.#announced = text;
    this.#announcement.textContent = text;
  }
}

function put(id, text, part) {
  const element = find(id);
  element.hidden = !text;
  (part ? element.querySelector(part) : element).textContent = text ?? "";
}
