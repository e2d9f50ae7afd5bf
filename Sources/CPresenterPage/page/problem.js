/** Shows a failure in the words of the program, and its remedy: as a button if this page can apply it. */

import { LATE } from "./api.js";
import { copyButton } from "./copy.js";
import { text } from "./language.js";
import { make, reveal } from "./list.js";
import { choosesSource, isInTerminal, sentence } from "./words.js";

/**
 * @param {string | undefined} command @param {() => void} chooseSource
 * @returns {HTMLElement | undefined}
 */
export function remedyElement(command, chooseSource) {
  if (!command || isInTerminal(command)) return undefined;
  if (choosesSource(command)) {
    const button = make("button", { type: "button", class: "quiet small", "data-does": "remedy" }, text("remedy.choose"));
    button.addEventListener("click", chooseSource);
    return button;
  }
  // Some commands are explained in parentheses.
  const [, typed, explanation] = /^(rtcshare .*?)( \(.*\))?$/s.exec(command) ?? [];
  if (!typed) return make("p", { lang: "en", dir: "ltr" }, sentence(command));
  const code = make("code", { dir: "ltr", translate: "no" }, typed);
  return make("p", { class: "command" }, code, make("span", { lang: "en", dir: "ltr" }, explanation ?? ""), copyButton(typed, text("copy")));
}

export class ProblemPanel {
  #panel;
  #chooseSource;
  /** What had the focus when the failure came. */
  #origin;

  /** @param {HTMLElement} panel @param {() => void} chooseSource for the remedy that is another source */
  constructor(panel, chooseSource) {
    this.#panel = panel;
    this.#chooseSource = chooseSource;
    panel.querySelector(".close").addEventListener("click", () => {
      this.hide();
      this.#origin?.focus();
    });
  }

  /** @param {import("./api.js").Problem} problem */
  show(problem) {
    if (!this.#panel.contains(document.activeElement)) this.#origin = document.activeElement;
    const words = [sentence(problem.message), ...problem.list].filter(Boolean).join("\n");
    const paragraph = this.#panel.querySelector("p");
    paragraph.lang = words ? "en" : text("language");
    paragraph.dir = words ? "ltr" : text("direction");
    paragraph.textContent = words || text(problem.status === LATE ? "failed.late" : "failed.title");
    this.#panel.querySelector(".remedy").replaceChildren(...[remedyElement(problem.remedy, this.#chooseSource)].filter(Boolean));
    reveal(this.#panel, true);
  }

  hide() {
    reveal(this.#panel, false);
  }
}
