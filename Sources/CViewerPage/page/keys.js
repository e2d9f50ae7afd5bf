/**
 * Whether single keys are shortcuts. They can be switched off: people who speak to their computer, or hit keys by accident,
 * would set off others than they mean (WCAG 2.1.4). The browser remembers it.
 */

const NAME = "rtcshare.keys";

export class Keys {
  #input;

  /** @param {HTMLInputElement} input @param {() => void} changed */
  constructor(input, changed) {
    this.#input = input;
    input.checked = recall() !== "off";
    input.addEventListener("change", () => {
      remember(input.checked ? "on" : "off");
      changed();
    });
  }

  get areOn() {
    return this.#input.checked;
  }
}

// A browser that blocks storage throws.
function recall() {
  try {
    return localStorage.getItem(NAME);
  } catch {
    return null;
  }
}

function remember(value) {
  try {
    localStorage.setItem(NAME, value);
  } catch {
    // The switch holds until the page is left.
  }
}
