/**
 * Whether single keys are shortcuts. They can be switched off: people who speak to their computer, or hit keys by accident,
 * would otherwise trigger them unintentionally (WCAG 2.1.4). The browser remembers it.
 */

import { recall, remember } from "./settings.js";

export class Keys {
  #input;

  /** @param {HTMLInputElement} input @param {() => void} changed */
  constructor(input, changed) {
    this.#input = input;
    input.checked = recall("keys") !== "off";
    input.addEventListener("change", () => {
      remember("keys", input.checked ? "on" : "off");
      changed();
    });
  }

  get areOn() {
    return this.#input.checked;
  }
}

/**
 * The key of an event; undefined if it belongs to a field, or to the browser because of Ctrl, Alt or Meta.
 * @param {KeyboardEvent} event
 */
export function keyOf(event) {
  const isTaken = event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey;
  if (isTaken || event.getModifierState("AltGraph") || event.target.closest?.("input:not([type=radio]), select, textarea, [contenteditable]")) return undefined;
  // Shift makes a letter another key, but some layouts need it for "?", "+" and digits.
  if (event.shiftKey && /^\p{L}$/u.test(event.key)) return undefined;
  // On a keyboard of another script, the letters in their usual places count.
  const isOtherScript = /^[^\x00-\x7f]$/.test(event.key) && event.code.startsWith("Key");
  return isOtherScript ? event.code.slice(3).toLowerCase() : event.key.length === 1 ? event.key.toLowerCase() : event.key;
}
