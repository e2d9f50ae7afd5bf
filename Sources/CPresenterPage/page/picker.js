/** The choice of a source: cards with pictures, for the form before a share and for the dialog during one. */

import { announce } from "./announcement.js";
import { get } from "./api.js";
import { number, text } from "./language.js";
import { List, find, make, put, reveal } from "./list.js";
import { Region } from "./region.js";
import { sentence, sourceName } from "./words.js";

/** With more windows than these, there is a field that searches. */
const FEW = 8;
/** The values of cards that have no SPEC of their own. */
const REGION = "region";
const OTHER = "other";

/** @typedef {{ id: string, icon: string, name: string, facts: string }} Card */

export class Picker {
  #sources;
  #changed;
  #lists = {};
  #region = new Region(() => this.#changed());
  /** @type {string | undefined} a SPEC to choose once it is listed; undefined after a choice */
  #wish;
  /** The chosen card's value and name. */
  #chosen = { value: "", name: "" };
  /** The names of cards that were chosen, by SPEC. @type {Map<string, string>} */
  #names = new Map();

  /** @param {import("./sources.js").Sources} sources @param {() => void} changed */
  constructor(sources, changed) {
    this.#sources = sources;
    this.#changed = changed;
    for (const group of ["screens", "windows", "cameras"]) {
      const place = find(`picker-${group}`);
      this.#lists[group] = new List(place.querySelector("ul"), place.querySelector("h3"), { make: (card) => this.#make(card), fill });
    }
    find("picker").addEventListener("change", ({ target }) => target.name === "pick" && this.#choose(target));
    find("picker-search").addEventListener("input", () => this.#search());
    find("spec").addEventListener("input", () => this.#choose(find("picker-other").querySelector("[name=pick]")));
    find("camera-show").addEventListener("click", () => this.#toggleCamera());
  }

  /** The SPEC; empty if nothing is chosen. */
  get spec() {
    const { value } = this.#chosen;
    return value === REGION ? this.#region.spec : value === OTHER ? find("spec").value.trim() : value;
  }

  /** The name of the chosen source; empty if nothing is chosen. */
  get name() {
    const { value, name } = this.#chosen;
    return value === REGION || value === OTHER ? sourceName(this.spec) : name;
  }

  /** The name of a source, as it was chosen here. @param {string} spec */
  nameOf(spec) {
    return this.#names.get(spec) ?? sourceName(spec);
  }

  /** Finds the title of a window that was not chosen here. @param {string} spec @returns {Promise<boolean>} whether it has one */
  async learn(spec) {
    if (!spec.startsWith("window:0x") || this.#names.has(spec)) return false;
    this.#names.set(spec, sourceName(spec));
    const { windows = [] } = await get("v1/sources").catch(() => ({}));
    const title = windows.find((window) => window.spec === spec)?.title;
    if (title) this.#names.set(spec, title);
    return Boolean(title);
  }

  /** Chooses a source as soon as it is listed. @param {string} [spec] the screen if it is empty */
  wish(spec = "") {
    this.#wish = spec.startsWith("portal") ? "portal" : spec;
    find("picker-search").value = "";
    find("spec").value = "";
    find("picker-other").open = false;
    this.#region.isShown = false;
    for (const input of this.#inputs) input.checked = false;
    this.#chosen = { value: "", name: "" };
    this.show();
  }

  /** Shows the sources that are there now. */
  show() {
    const { lists, reasons, pictures, tried } = this.#sources;
    for (const [group, cards] of Object.entries({ screens: screens(lists), windows: windows(lists), cameras: cameras(lists) })) {
      const place = find(`picker-${group}`);
      this.#lists[group].show(cards.map((card) => ({ ...card, image: pictures.get(card.id) })));
      reveal(place, cards.length > 0);
    }
    if (lists.displays?.length) this.#region.screen = lists.displays[0];
    reveal(find("picker-search").parentElement, lists.windows?.length > FEW);
    const isEmpty = lists.displays && !screens(lists).length && !lists.windows.length;
    reveal(find("picker-wait"), !lists.displays);
    this.tell(isEmpty ? (reasons.portal ?? reasons.displays) : undefined);
    this.#search();
    this.#notice();
    this.#grant();
    const isCamera = this.#chosen.value.startsWith("camera");
    reveal(find("camera-show"), isCamera);
    put(find("camera-show"), text(tried.camera === this.#chosen.value ? "camera.hide" : "camera.show"));
  }

  /** Shows why there are no sources. @param {string} [reason] */
  tell(reason) {
    reveal(find("picker-reason"), reason);
    put(find("picker-reason"), sentence(reason));
    if (reason) reveal(find("picker-wait"), false);
  }

  /** @param {string} spec @param {string} image */
  picture(spec, image) {
    const input = this.#input(spec);
    if (input) paint(input.parentElement, image);
  }

  /** Focuses the chosen card, or the first one. */
  focus() {
    (this.#inputs.find(({ checked }) => checked) ?? this.#inputs[0]).focus();
  }

  get #inputs() {
    return [...find("picker").querySelectorAll("[name=pick]")];
  }

  #input(value) {
    return this.#inputs.find((input) => input.value === value);
  }

  #make({ id, icon }) {
    const picture = make("span", { class: "picture" });
    picture.innerHTML = `<svg aria-hidden="true"><use href="#icon-${icon}"/></svg><img alt="" hidden>`;
    const look = make("span", { class: "look" }, picture, make("strong"), make("span", { class: "facts" }));
    return make("li", {}, make("label", { class: "pick" }, make("input", { type: "radio", name: "pick", value: id, "data-does": "pick" }), look));
  }

  /** Takes the choice of a person. @param {HTMLInputElement} input */
  #choose(input) {
    this.#wish = undefined;
    if (this.#sources.tried.camera === this.#chosen.value) this.#sources.try("camera", undefined);
    this.#take(input);
  }

  #take(input) {
    input.checked = true;
    this.#call(input);
    this.#region.isShown = input.value === REGION;
    this.show();
    this.#changed();
  }

  /** Notices if the chosen source is gone, or has another name. */
  #notice() {
    const { value, name } = this.#chosen;
    if (!value) return;
    const input = this.#input(value);
    if (!input) {
      this.#chosen = { value: "", name: "" };
      announce(text("picker.gone", { name }));
    } else {
      input.checked = true;
      this.#call(input);
    }
    this.#changed();
  }

  #call(input) {
    const name = input.parentElement.querySelector("strong")?.textContent ?? "";
    this.#chosen = { value: input.value, name };
    if (name && ![REGION, "portal"].includes(input.value)) this.#names.set(input.value, name);
  }

  #grant() {
    if (this.#wish === undefined) return;
    const { displays, windows, cameras } = this.#sources.lists;
    const wish = this.#wish;
    const kind = wish.split(":")[0];
    const list = { "": displays, display: displays, portal: displays, region: displays, window: displays, camera: cameras };
    // A list that has not come yet may have it.
    if (Object.hasOwn(list, kind) && !list[kind]) return;
    this.#wish = undefined;
    if (!Object.hasOwn(list, kind)) {
      find("spec").value = wish;
      find("picker-other").open = true;
      return this.#take(this.#input(OTHER));
    }
    if (kind === "region") this.#region.spec = wish;
    const titled = windows?.find(({ title }) => wish === `window:title=${title}`)?.spec;
    // Without a wish it is the screen. In the place of a window that is gone, the screen would show more than was wished.
    const input = wish ? this.#input(kind === "region" ? REGION : (titled ?? wish)) : find("picker-screens").querySelector("input");
    if (input) this.#take(input);
  }

  /** Shows the windows with the words of the search. The chosen one stays. */
  #search() {
    const words = find("picker-search").value.toLocaleLowerCase().split(/\s+/);
    const items = [...find("picker-windows").querySelectorAll("li")];
    for (const item of items) {
      const name = item.textContent.toLocaleLowerCase();
      reveal(item, item.querySelector("input").checked || words.every((word) => name.includes(word)));
    }
    const isUnmatched = items.length > 0 && items.every(({ hidden }) => hidden);
    if (isUnmatched && find("picker-unmatched").hidden) announce(text("picker.unmatched"));
    reveal(find("picker-unmatched"), isUnmatched);
  }

  #toggleCamera() {
    const { value } = this.#chosen;
    this.#sources.try("camera", this.#sources.tried.camera === value ? undefined : value);
  }
}

/** @param {HTMLElement} element @param {Card & { image?: string }} card */
function fill(element, { name, facts, image }) {
  put(element.querySelector("strong"), name);
  put(element.querySelector(".facts"), facts);
  if (image) paint(element, image);
  else reveal(element.querySelector("img"), false);
}

function paint(element, image) {
  const picture = element.querySelector("img");
  if (picture.src !== image) picture.src = image;
  reveal(picture, true);
}

const whole = (value) => number(value, { useGrouping: false });
const size = ({ width, height }) => `${whole(width)}\u00a0×\u00a0${whole(height)}`;
const joined = (...facts) => facts.filter(Boolean).join(" · ");

/** @returns {Card[]} */
function screens({ portal = [], displays = [], outputs = [] }) {
  const cards = [];
  if (portal.length) cards.push({ id: "portal", icon: "screen", name: text("picker.portal"), facts: text("picker.portal.text") });
  const [display] = displays;
  if (!display) return cards;
  const only = outputs.length === 1 && outputs[0].width === display.width && outputs[0].height === display.height ? outputs[0] : undefined;
  if (only || outputs.length === 0) {
    cards.push({ id: display.spec, icon: "screen", name: only?.product ?? text("picker.screen"), facts: size(display) });
  } else {
    cards.push(...outputs.map((output) => {
      const main = output.primary ? text("picker.main") : "";
      return { id: output.spec, icon: "screen", name: output.product ?? output.name, facts: joined(output.product && output.name, size(output), main) };
    }));
    cards.push({ id: display.spec, icon: "screen", name: text("picker.all"), facts: size(display) });
  }
  cards.push({ id: REGION, icon: "region", name: text("picker.region"), facts: text("picker.region.text") });
  return cards;
}

/** @returns {Card[]} */
const windows = ({ windows = [] }) =>
  windows.map((window) => ({ id: window.spec, icon: "window", name: window.title || text("picker.untitled"), facts: joined(window.application, size(window)) }));

/** @returns {Card[]} */
const cameras = ({ cameras = [] }) => cameras.map(({ spec, description }) => ({ id: spec, icon: "camera", name: description, facts: "" }));
