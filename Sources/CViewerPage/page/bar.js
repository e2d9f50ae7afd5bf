/** The controls: a bar that comes with the pointer and goes when it rests, and their keys. */

import { keyOf } from "./keys.js";

/**
 * @typedef {object} Control
 * @property {() => boolean} exists in this browser, for this share
 * @property {() => { label: string, text?: string, icon: string, pressed?: boolean, expanded?: boolean }} look
 * @property {() => void} run
 */

/** @typedef {"sound" | "scale" | "fullscreen" | "pip" | "statistics" | "help"} ControlName */

const REST = 2500; // ms without a movement, until the bar goes
const KEYS = { m: "sound", 1: "scale", f: "fullscreen", p: "pip", s: "statistics", "?": "help" };

export class Bar {
  #element;
  #controls;
  #keys;
  #buttons = new Map();
  #timer = 0;
  #isHeld = false;
  #isUseful = (_name) => false;

  /** @param {HTMLElement} element @param {Record<ControlName, Control>} controls @param {import("./keys.js").Keys} keys */
  constructor(element, controls, keys) {
    this.#element = element;
    this.#controls = controls;
    this.#keys = keys;
    for (const button of element.querySelectorAll("button")) {
      const name = button.dataset.does;
      this.#buttons.set(name, button);
      button.addEventListener("click", () => this.#run(name));
    }
    element.addEventListener("pointerenter", (event) => (this.#isHeld = event.pointerType === "mouse"));
    element.addEventListener("pointerleave", () => (this.#isHeld = false));
    document.addEventListener("pointermove", (event) => event.pointerType === "mouse" && this.show());
    document.documentElement.addEventListener("mouseleave", () => this.hide());
    element.addEventListener("focusin", () => this.show());
    document.addEventListener("keydown", (event) => this.#key(event));
  }

  get isShown() {
    return document.body.classList.contains("shows-bar");
  }

  show() {
    document.body.classList.add("shows-bar");
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#rest(), REST);
  }

  hide() {
    clearTimeout(this.#timer);
    document.body.classList.remove("shows-bar");
  }

  /** @param {(name: ControlName) => boolean} isUseful whether a control that exists is of use now */
  enable(isUseful) {
    this.#isUseful = isUseful;
    this.update();
  }

  update() {
    for (const [name, button] of this.#buttons) {
      const control = this.#controls[name];
      const exists = control.exists();
      button.hidden = !exists || !this.#isUseful(name);
      for (const row of document.querySelectorAll(`[data-needs="${name}"]`)) row.hidden = !exists;
      for (const row of document.querySelectorAll(`[data-lacks="${name}"]`)) row.hidden = exists;
      const { label, text, icon, pressed, expanded } = control.look();
      button.setAttribute("aria-label", label);
      const key = Object.keys(KEYS).find((key) => KEYS[key] === name);
      button.dataset.tip = this.#keys.areOn ? `${label} (${key})` : label;
      if (this.#keys.areOn) button.setAttribute("aria-keyshortcuts", key);
      else button.removeAttribute("aria-keyshortcuts");
      button.querySelector("use")?.setAttribute("href", `#icon-${icon}`);
      const words = button.querySelector("span");
      if (words) words.textContent = text ?? "";
      button.classList.toggle("wide", text !== undefined);
      if (pressed !== undefined) button.setAttribute("aria-pressed", String(pressed));
      if (expanded !== undefined) button.setAttribute("aria-expanded", String(expanded));
    }
    this.#element.hidden = [...this.#buttons.values()].every((button) => button.hidden);
  }

  #rest() {
    // Whoever went there by keyboard would lose sight of where they are.
    const isInUse = this.#isHeld || this.#element.querySelector(":focus-visible");
    if (isInUse) this.show();
    else this.hide();
  }

  #run(name) {
    if (this.#buttons.get(name).hidden) return;
    this.#controls[name].run();
    this.update();
  }

  #key(event) {
    if (!this.#keys.areOn || event.repeat) return;
    const name = KEYS[keyOf(event) ?? ""];
    if (!name || (document.querySelector("dialog[open]") && name !== "help")) return;
    event.preventDefault();
    this.#run(name);
  }
}
