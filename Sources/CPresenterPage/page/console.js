/** Puts the page together: events bring the state of the share, the other modules show it, and each click is a request. */

import { announce } from "./announcement.js";
import { Problem, UNLIMITED, get, request } from "./api.js";
import { Before } from "./before.js";
import { Controls } from "./controls.js";
import { Events, SETTLED } from "./events.js";
import { Graph } from "./graph.js";
import { Keys, keyOf } from "./keys.js";
import { LANGUAGES, choice, choose, extend, text, translate } from "./language.js";
import { Links } from "./links.js";
import { find, mark, put, reveal } from "./list.js";
import { Messages } from "./messages.js";
import { Picker } from "./picker.js";
import { Preview } from "./preview.js";
import { ProblemPanel } from "./problem.js";
import { examineRouter } from "./router.js";
import { remember } from "./settings.js";
import { SourceDialog } from "./source-dialog.js";
import { Sources } from "./sources.js";
import { isFollowing, watchTabs } from "./tabs.js";
import english from "./texts/en.js";
import { Viewers } from "./viewers.js";
import { drawWire } from "./wire.js";
import { endOf, facts, headline, isWatching, sentence } from "./words.js";

// Only here: no other module waits, so that none is used before it is there.
await extend(english, async (code) => (await import(`./texts/${code}.js`)).default);

// A browser keeps nothing for the next page, which has another port.
const kept = await get("v1/choices").catch(() => ({}));
if (kept.language in LANGUAGES && kept.language !== choice) await choose(kept.language);
if (kept.hidesVideo !== undefined) remember("slate", kept.hidesVideo ? "on" : "off");

/** The path that a DELETE stops sharing with. */
const STOPPED = "v1/share";
/** A stream of the share that is silent for this time (ms) is broken: there is at least a comment every 10 seconds. */
const SILENCE = 30_000;
/** Two states are of different shares if these began at times that differ more (ms). */
const OTHER_BEGIN = 5000;

/** @type {object | undefined} the newest state of the share */
let share;
/** When it was started. */
let start;
/** When the share began, of performance.now(), which nobody sets. */
let begin;
/** Whether nothing is shared, and this page can start a share. */
let isIdle = false;
/** @type {{ state: string, title: string, text?: string, foreign?: string, code?: string, canRetry?: boolean, canStart?: boolean } | undefined} shown in place of the share */
let notice;
/** The state that was announced last. */
let said = "";

const problems = new ProblemPanel(find("problem"), chooseSource);
const viewers = new Viewers(act);
const messages = new Messages(chooseSource);
const links = new Links();
const graph = new Graph();
const preview = new Preview((problem) => problems.show(problem));
const controls = new Controls((body) => act("PATCH", "v1/share", body), keep);
const keys = new Keys(find("keys"), () => {});

const sources = new Sources({
  listed: () => {
    picker.show();
    before.list();
  },
  pictured: (spec, image) => {
    picker.picture(spec, image);
    before.picture(spec, image);
  },
  heard: (peak) => before.hear(peak),
  failed: (kind, reason) => before.tell(kind, reason),
  lost: (reason) => picker.tell(reason),
});
const picker = new Picker(sources, () => before.name());
const before = new Before(sources, picker);
const sourceDialog = new SourceDialog(sources, picker, async (source) => {
  if (await act("PATCH", "v1/share", { source }, UNLIMITED)) keep({ source });
});

const happened = {
  share: (now) => {
    // A tab that has rested can have missed the end of a share.
    if (share && Math.abs(beginOf(now) - begin) > OTHER_BEGIN) {
      forget();
      messages.forget();
    }
    const isBack = notice !== undefined || !share;
    const isNews = share && now.messages.at(-1)?.id !== share.messages.at(-1)?.id;
    take(now);
    if (isBack) graph.start();
    if (isBack) links.update();
    else if (isNews) links.updateSoon();
  },
  idle: () => prepare(),
  ended: ({ reason }) => {
    messages.forget();
    const end = { state: "ended", title: text("ended.title"), text: text("over.text"), foreign: endOf(reason) };
    give(end);
    setTimeout(() => notice === end && events.isRunning && give({ ...end, canStart: true }), SETTLED);
  },
};

const events = new Events(() => "v1/share/events", {
  take: (type, data) => happened[type]?.(data),
  lost: ({ status, message }, isLast) => {
    if (status === 401) give({ state: "stranger", title: text("stranger.title"), text: text("stranger.text"), code: "rtcshare present" });
    else if (status === 0) give({ state: isLast ? "gone" : "away", title: text("away.title"), text: text(isLast ? "away.last" : "away.text"), code: isLast ? "rtcshare present" : undefined, canRetry: isLast });
    else give({ state: "failed", title: text("failed.title"), foreign: sentence(message), canRetry: isLast });
  },
}, SILENCE);

/**
 * Makes a request. The state after it is sent as an event, before the response.
 * @param {string} method @param {string} path @param {object} [body] @param {AbortSignal} [signal]
 * @returns {Promise<boolean>} whether it was carried out
 */
async function act(method, path, body, signal) {
  try {
    await request(method, path, body, signal);
    problems.hide();
    return true;
  } catch (problem) {
    if (!(problem instanceof Problem)) throw problem;
    // If the share is gone, the events say so.
    if (problem.status) problems.show(problem);
    return false;
  }
}

/** Keeps choices for the next time. @param {object} choices */
function keep(choices) {
  request("PATCH", "v1/choices", choices).catch(() => {});
}

/** Follows the share while this tab does. */
function follow() {
  if (isFollowing()) return events.resume();
  if (!events.isRunning) return;
  events.rest();
  // What comes back can be another share. Until then, the title must not claim anything.
  start = undefined;
  put(document.querySelector("title"), "rtcshare");
}

/** Leads to the choice of a source. */
function chooseSource() {
  problems.hide();
  sourceDialog.open(share.source);
}

/** Forgets a share, and ends everything that belongs to it. Its messages stay, as it can come back. */
function forget() {
  share = undefined;
  start = undefined;
  problems.hide();
  viewers.forget();
  for (const part of [links, graph, preview]) part.stop();
  for (const dialog of document.querySelectorAll("dialog[open]:not(#help)")) dialog.close();
}

/** Shows the form that starts a share. */
function prepare() {
  notice = undefined;
  isIdle = true;
  forget();
  messages.forget();
  render();
  before.show();
  say("before", text("before.title"));
}

const beginOf = ({ uptime }) => performance.now() - uptime * 1000;

function take(now) {
  const wasIdle = isIdle;
  share = now;
  begin = beginOf(now);
  start ??= new Date(Date.now() - now.uptime * 1000);
  notice = undefined;
  isIdle = false;
  if (wasIdle) before.hide(true);
  render();
  if (wasIdle) find("headline").focus();
}

function give(words) {
  notice = words;
  forget();
  if (isIdle) before.hide(false);
  isIdle = false;
  render();
}

function render() {
  mark(document.body, "data-state", share ? "during" : isIdle ? "before" : (notice?.state ?? "connecting"));
  reveal(find("before"), isIdle);
  reveal(find("during"), share);
  reveal(find("notice"), notice);
  if (notice) showNotice();
  if (isIdle) name(text("before.title"));
  if (share) showShare();
}

function showShare() {
  const { title, text: words, isForeign } = headline(share);
  put(find("headline"), title);
  const situation = find("situation");
  put(situation.firstElementChild, words);
  mark(situation.firstElementChild, "lang", isForeign ? "en" : text("language"));
  put(situation.lastElementChild, facts(share, start));
  const shown = share.viewers.map(isWatching);
  drawWire(find("top").querySelector(".wire"), { dots: shown, isPaused: share.state === "paused", isLocked: share.isLocked });
  const waiting = share.viewers.filter(({ isWaiting }) => isWaiting).length;
  name(`${waiting ? `(${waiting}) ` : ""}${title}`);
  nameSource();
  controls.show(share);
  viewers.show(share);
  messages.show(share.messages);
  // Viewers who join or leave are announced by name.
  say(share.interruption ?? (share.state === "paused" ? words : "on"), [title, words].filter(Boolean).join(" "));
}

async function nameSource() {
  const { source } = share;
  put(find("source"), picker.nameOf(source));
  if ((await picker.learn(source)) && share?.source === source) put(find("source"), picker.nameOf(source));
}

function showNotice() {
  drawWire(find("notice").querySelector(".wire"), { dots: [false], isCut: true });
  put(find("notice-title"), notice.title);
  show("notice-text", notice.text);
  show("notice-foreign", notice.foreign);
  show("notice-command", notice.code, "code");
  reveal(find("retry"), notice.canRetry);
  reveal(find("again"), notice.canStart);
  name(notice.title);
  say(notice.state, [notice.title, notice.text, notice.foreign, notice.code].filter(Boolean).join(" "));
}

function show(id, words, part) {
  reveal(find(id), words);
  put(part ? find(id).querySelector(part) : find(id), words ?? "");
}

/** Names the page. @param {string} title */
function name(title) {
  put(document.querySelector("title"), `${title} – rtcshare`);
}

/** Announces a state once. @param {string} state @param {string} sentence */
function say(state, sentence) {
  if (said && state !== said) announce(sentence);
  said = state;
}

const SHORTCUTS = {
  "?": () => find("help").showModal(),
};
const SHORTCUTS_OF_SHARE = {
  ...SHORTCUTS,
  a: () => viewers.first !== undefined && viewers.admit(viewers.first),
  d: () => viewers.first !== undefined && viewers.remove(viewers.first),
  p: () => controls.togglePause(),
  m: () => controls.toggleMute(),
  l: () => controls.toggleLock(),
};

document.addEventListener("keydown", (event) => {
  const key = keyOf(event);
  const shortcuts = share ? SHORTCUTS_OF_SHARE : isIdle ? SHORTCUTS : {};
  if (!key || !keys.areOn || document.querySelector("dialog[open]") || !Object.hasOwn(shortcuts, key)) return;
  // A key that is held down counts once.
  if (!event.repeat) shortcuts[key]();
  event.preventDefault();
});

// In a field, Enter must not share anything.
for (const form of [find("start"), find("source-dialog").querySelector("form")]) {
  form.addEventListener("keydown", (event) => event.key === "Enter" && event.target.localName === "input" && event.preventDefault());
}
for (const button of document.querySelectorAll("[data-opens]")) button.addEventListener("click", () => find(button.dataset.opens).showModal());
for (const button of document.querySelectorAll("dialog .close")) button.addEventListener("click", () => button.closest("dialog").close());
for (const place of document.querySelectorAll(".router")) examineRouter(place);
find("source-change").addEventListener("click", () => sourceDialog.open(share.source));
find("stop").addEventListener("click", () => find("stop-dialog").showModal());
find("stop-dialog").addEventListener("close", () => {
  if (find("stop-dialog").returnValue === "stop") act("DELETE", STOPPED);
  find("stop-dialog").returnValue = "";
});
// A click beside a dialog is one on its backdrop, which belongs to it. It must not discard a choice.
for (const dialog of document.querySelectorAll("dialog:not(#source-dialog)")) dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
find("again").addEventListener("click", () => {
  prepare();
  find("before-title").focus();
});
find("retry").addEventListener("click", () => {
  notice = undefined;
  render();
  events.start();
});
// If the link is opened again in this tab, only the fragment differs, and browsers load nothing.
addEventListener("hashchange", () => location.reload());

const language = find("language");
for (const [code, name] of Object.entries(LANGUAGES)) language.add(Object.assign(new Option(name, code), { lang: code }));
language.value = choice;
language.addEventListener("change", async () => {
  await choose(language.value);
  keep({ language: choice });
  said = "";
  translate();
  for (const part of [viewers, messages, links, graph, preview]) part.clear();
  picker.show();
  before.list();
  before.name();
  render();
  if (share) links.update();
});

translate();
preview.clear();
events.start();
watchTabs(follow);
follow();
