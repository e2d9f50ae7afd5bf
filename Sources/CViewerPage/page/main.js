/** Puts the page together: the watch tells what is, the stage and the notice show it. */

import { Bar } from "./bar.js";
import { listen } from "./gestures.js";
import { Keys, keyOf } from "./keys.js";
import { LANGUAGES, choice, choose, ready, text, translate } from "./language.js";
import { readLink } from "./link.js";
import { Notice } from "./notice.js";
import { Panel } from "./panel.js";
import { Sound } from "./sound.js";
import { Stage } from "./stage.js";
import { Watch } from "./watch.js";
import { Problem } from "./whep.js";
import { NO_WEBRTC, describe } from "./words.js";

/** After so long what is being tried is of interest. */
const SLOW = 3000;
/** A connection that is mended within this time was never gone, as far as anybody sees. */
const UNNOTICED = 1000;
const KEY_STEP = 80; // CSS pixels that an arrow key moves the picture by
const KEY_ZOOM = 1.25;

// Only here: no other module waits, so that none is used before it is there.
await ready;

const find = (id) => document.getElementById(id);

const link = readLink();
let situation = { kind: "connecting", step: "asking" };
let share;
let since = performance.now();
let timer = 0;

const stage = new Stage(find("stage"), () => render());
const sound = new Sound(() => bar.update());
const watch = new Watch(link, {
  track: (role, stream, track) => (track.kind === "video" ? stage.show(role, stream, track) : sound.take(role, track)),
  state: (state) => {
    share = { ...share, ...state };
    stage.setStates(state.tiles ?? []);
  },
  situation: (now) => {
    if (now.kind !== situation.kind) since = performance.now();
    situation = now;
    // Before the connection goes: afterwards some browsers show black.
    if (now.kind === "on") stage.thaw();
    else stage.freeze();
    if (["ended", "removed", "declined"].includes(now.kind)) stage.clear();
    render();
  },
});
const notice = new Notice(() => watch.hurry());
const panel = new Panel(find("statistics"), () => ({
  session: watch.session,
  track: stage.main.video.srcObject?.getTracks()[0],
  size: stage.main.size,
  scale: stage.view.scale,
}));
const help = find("help");

const controls = {
  sound: {
    exists: () => sound.exists && share?.sound !== false,
    look: () => (sound.isOn ? { label: text("sound.off"), icon: "sound" } : { label: text("sound.on"), text: text("sound.on"), icon: "muted" }),
    run: () => sound.turn(!sound.isOn),
  },
  scale: {
    exists: () => true,
    look: () => (stage.view.mode === "fit" ? { label: text("scale.actual"), icon: "actual" } : { label: text("scale.fit"), icon: "fit" }),
    run: () => {
      if (stage.view.mode === "fit") stage.view.showActual();
      else stage.view.fit();
      stage.layout();
    },
  },
  fullscreen: {
    // An iPhone has it for a video alone.
    exists: () => document.fullscreenEnabled || "webkitEnterFullscreen" in stage.main.video,
    look: () => (document.fullscreenElement ? { label: text("fullscreen.leave"), icon: "reduce" } : { label: text("fullscreen.enter"), icon: "enlarge" }),
    run: () => {
      if (document.fullscreenElement) document.exitFullscreen();
      else if (document.fullscreenEnabled) document.documentElement.requestFullscreen().catch(() => {});
      else stage.main.video.webkitEnterFullscreen();
    },
  },
  pip: {
    exists: () => document.pictureInPictureEnabled === true,
    look: () => ({ label: text("pip"), icon: "pip", pressed: Boolean(document.pictureInPictureElement) }),
    run: () => {
      if (document.pictureInPictureElement) document.exitPictureInPicture();
      else stage.main.popOut();
    },
  },
  statistics: {
    exists: () => true,
    look: () => ({ label: text("statistics"), icon: "statistics", expanded: panel.isOpen }),
    run: () => panel.toggle(!panel.isOpen),
  },
  help: {
    exists: () => true,
    look: () => ({ label: text("help"), icon: "help" }),
    run: () => (help.open ? help.close() : help.showModal()),
  },
};
const keys = new Keys(find("keys"), () => bar.update());
const bar = new Bar(find("bar"), controls, keys);

function render() {
  clearTimeout(timer);
  const elapsed = performance.now() - since;
  const { hasPicture, isBlocked } = stage;
  const facts = { hasPicture, isBlocked, isSlow: elapsed >= SLOW, hasToken: link.token !== "", isOffline: !navigator.onLine };
  let words = describe(situation, share, facts);
  const isUnnoticed = situation.kind === "lost" && elapsed < UNNOTICED;
  document.title = [share?.name || "rtcshare", words?.title ?? text("live")].join(" – ");
  if (isUnnoticed) words = undefined;
  // A server that asked for patience gets it, whoever presses what.
  if (words && situation.kind === "problem" && situation.problem.retryAfter) words.canRetry = false;
  const isSeen = hasPicture && (!words || words.keepsPicture === true);
  document.body.classList.toggle("shows-picture", isSeen);
  notice.show(words, isSeen, "retryAt" in situation ? situation.retryAt : undefined);
  if (!isSeen) panel.toggle(false);
  // Sound without a picture can be turned on and off as well.
  const isHeard = situation.kind === "on" && share?.sound === true;
  bar.enable((name) => isSeen || (name === "sound" && isHeard));
  find("who-name").textContent = share?.name ?? "";
  find("who-viewers").textContent = share?.viewers ? text("viewers", { count: share.viewers }) : "";
  const next = isUnnoticed ? UNNOTICED : words?.state === "connecting" && elapsed < SLOW ? SLOW : 0;
  if (next) timer = setTimeout(render, next - elapsed + 10);
}

function move(change) {
  change();
  stage.layout();
}

listen(find("stage"), {
  tap: () => (bar.isShown ? bar.hide() : bar.show()),
  pan: (dx, dy) => move(() => stage.view.pan(dx, dy)),
  zoom: (factor, at) => move(() => stage.view.zoom(factor, at)),
  settle: () => move(() => stage.view.settle()),
});

const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

document.addEventListener("keydown", (event) => {
  const key = keyOf(event);
  if (!key || help.open || !stage.hasPicture) return;
  if (key in ARROWS) {
    const [x, y] = ARROWS[key];
    move(() => stage.view.pan(x * KEY_STEP, y * KEY_STEP));
  } else if (key === "Escape") panel.toggle(false), bar.update();
  else if (!keys.areOn) return;
  else if (key === "+" || key === "=") move(() => stage.view.zoom(KEY_ZOOM));
  else if (key === "-") move(() => (stage.view.zoom(1 / KEY_ZOOM), stage.view.settle()));
  else return;
  event.preventDefault();
});

for (const button of document.querySelectorAll("[data-closes]")) {
  button.addEventListener("click", () => {
    if (button.dataset.closes === "help") help.close();
    else panel.toggle(false);
    bar.update();
  });
}
// A click beside the dialog is one on its backdrop, which belongs to it.
help.addEventListener("click", (event) => event.target === help && help.close());

for (const event of ["fullscreenchange", "enterpictureinpicture", "leavepictureinpicture"]) {
  document.addEventListener(event, () => bar.update(), true);
}
for (const event of ["online", "offline"]) addEventListener(event, render);
document.addEventListener("visibilitychange", () => document.hidden || stage.play());
// Browsers differ in which of them lets a video start.
for (const event of ["pointerdown", "pointerup", "keydown"]) {
  document.addEventListener(event, () => stage.isBlocked && stage.play(), true);
}
// Another link in the same tab differs by its fragment alone, for which browsers load nothing.
addEventListener("hashchange", () => location.reload());
// Browsers close the connections of a page that they keep for going back; it begins anew when it is shown again.
addEventListener("pagehide", () => watch.stop());
addEventListener("pageshow", (event) => event.persisted && watch.start());

const language = find("language");
for (const [code, name] of Object.entries(LANGUAGES)) language.add(Object.assign(new Option(name, code), { lang: code }));
language.value = choice;
language.addEventListener("change", async () => {
  await choose(language.value);
  translate();
  stage.layout();
});

/** The formats that a share can send. */
const FORMATS = ["video/vp8", "video/av1", "video/h264"];

function obstacle() {
  if (typeof RTCPeerConnection === "undefined") return new Problem(NO_WEBRTC);
  const codecs = RTCRtpReceiver.getCapabilities?.("video")?.codecs;
  return codecs && !codecs.some(({ mimeType }) => FORMATS.includes(mimeType.toLowerCase())) ? new Problem(406) : undefined;
}

translate();
const problem = obstacle();
if (problem) {
  situation = { kind: "problem", problem };
  render();
} else watch.start();
