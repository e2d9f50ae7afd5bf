/** A button that copies a text, and confirms it. */

import { announce } from "./announcement.js";
import { text } from "./language.js";
import { make } from "./list.js";

const SHOWN = 2000; // ms

/** @param {string} words @param {string} label */
export function copyButton(words, label) {
  const button = make("button", { type: "button", class: "quiet small", "data-does": "copy" }, label);
  button.addEventListener("click", () => copy(button, words));
  return button;
}

/** @param {HTMLElement} button @param {string} words */
export async function copy(button, words) {
  const label = button.textContent;
  if (label === text("copied")) return;
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    return announce(text("copy.failed"));
  }
  button.textContent = text("copied");
  announce(text("copied"));
  setTimeout(() => {
    button.textContent = label;
  }, SHOWN);
}
