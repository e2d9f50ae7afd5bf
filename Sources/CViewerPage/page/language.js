/**
 * The page's texts in the viewer's language. Each language is a file in `languages`, loaded only when it is chosen. English
 * is always loaded and replaces texts that another language lacks. A new language takes a file, a line in LANGUAGES, and a
 * place in `viewer_page.c`.
 */

import shared from "./languages/en.js";
import { recall, remember } from "./settings.js";

/** Languages by code, each in its own words. @type {Record<string, string>} */
export const LANGUAGES = {
  de: "Deutsch", en: "English", es: "Español", fr: "Français", ja: "日本語", pt: "Português", ru: "Русский", zh: "中文",
};

/** @typedef {Record<string, string | Record<string, string>>} Texts */

/** @type {Texts} */
let english = shared;
/** @type {Texts} */
let texts = english;
/** A page's texts beside those of `languages`. @type {(code: string) => Promise<Texts>} */
let others = async () => ({});

/**
 * A text, with its values put in: numbers as the language writes them. `count` selects the plural form.
 * @param {string} key @param {Record<string, string | number>} [values]
 * @returns {string}
 */
export function text(key, values = {}) {
  let found = texts[key] ?? english[key];
  if (typeof found === "object") found = found[new Intl.PluralRules(texts.language).select(values.count)] ?? found.other;
  return found.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : values[name]));
}

/** @param {number} value @param {Intl.NumberFormatOptions} [options] */
export const number = (value, options) => new Intl.NumberFormat(texts.language, options).format(value);

/** @param {number} ms */
export function duration(ms) {
  const [value, unit] = ms < 10_000 ? [ms, "millisecond"] : [ms / 1000, "second"];
  return number(value, { style: "unit", unit, maximumFractionDigits: value < 10 ? 1 : 0 });
}

/** The code that the viewer chose, in the link's `lang` or on the page; empty: the browser's languages decide. */
export let choice = fromLink() ?? known(recall("language")) ?? "";

/** Done when the texts are there. A language that can't be loaded stays English. */
export const ready = load();

/** @param {string} code empty: the browser's languages decide */
export async function choose(code) {
  choice = code;
  remember("language", code);
  // A reload must not return to the language of the link.
  const url = new URL(location.href);
  url.searchParams.delete("lang");
  history.replaceState(history.state, "", url);
  await load();
}

/**
 * Adds texts of another page than the viewer's. Done when they are there.
 * @param {Texts} added in English @param {(code: string) => Promise<Texts>} inLanguage
 */
export function extend(added, inLanguage) {
  english = { ...english, ...added };
  others = inLanguage;
  return load();
}

/** Puts the texts into the elements that name them. */
export function translate() {
  document.documentElement.lang = text("language");
  document.documentElement.dir = text("direction");
  for (const element of document.querySelectorAll("[data-text]")) element.textContent = text(element.dataset.text);
  for (const element of document.querySelectorAll("[data-label]")) element.setAttribute("aria-label", text(element.dataset.label));
}

function known(tag) {
  const code = tag?.toLowerCase().split("-")[0];
  return Object.hasOwn(LANGUAGES, code ?? "") ? code : undefined;
}

function fromLink() {
  const code = known(new URLSearchParams(location.search).get("lang"));
  if (code) remember("language", code);
  return code;
}

function wanted() {
  return choice || (navigator.languages ?? [navigator.language]).map(known).find(Boolean) || "en";
}

async function load() {
  const code = wanted();
  const added = others;
  const loaded = code === "en" ? english : await inLanguage(code).catch(() => english);
  // Another choice may have been made since, or texts added.
  if (code === wanted() && added === others) texts = loaded;
}

/** @param {string} code */
async function inLanguage(code) {
  const [{ default: common }, added] = await Promise.all([import(`./languages/${code}.js`), others(code)]);
  return { ...common, ...added };
}
