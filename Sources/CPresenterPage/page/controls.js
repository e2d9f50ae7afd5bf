/** The controls of the share, except those for viewers. Each shows the state of the share, and changes it. */

import { text } from "./language.js";
import { find, mark, offer, put, reveal } from "./list.js";
import { recall, remember } from "./settings.js";
import { rate, sentence } from "./words.js";

/** Bitrates to choose from, in kbit/s. */
const RATES = [500, 1000, 2000, 4000, 8000, 16_000, 32_000];
/** The setting with the camera that was sent last. Each share has an address of its own, and with it other settings. */
const CAMERA = "camera";

export class Controls {
  #change;
  #keep;
  #share;
  /** The controls whose change is being made: until then they show the choice of the click. */
  #busy = new Set();

  /**
   * @param {(body: object) => Promise<boolean>} change makes a change of the share, and returns whether it is made
   * @param {(choices: object) => void} keep keeps choices for the next time
   */
  constructor(change, keep) {
    this.#change = change;
    this.#keep = keep;
    find("pause").addEventListener("click", () => this.togglePause());
    find("mute").addEventListener("click", () => this.toggleMute());
    find("record").addEventListener("click", () => change({ isRecording: !this.#share.recording }));
    find("slate").addEventListener("click", () => this.#toggleSlate());
    find("sounds").addEventListener("click", () => change({ isAudioMuted: !this.#share.isAudioMuted }));
    find("microphone").addEventListener("click", () => change({ isMicrophoneMuted: !this.#share.isMicrophoneMuted }));
    find("camera").addEventListener("click", () => this.#toggleCamera());
    find("hint").addEventListener("change", ({ target }) => this.#make("hint", { hint: target.value || null }));
    find("access").addEventListener("change", ({ target }) => this.#allow(target.value));
    find("bitrate").addEventListener("change", ({ target }) => this.#make("bitrate", { maxBitrate: Number(target.value) || null }));
  }

  togglePause() {
    const { isPaused } = this;
    this.#change(isPaused ? { isPaused: false } : { isPaused: true, isSlateShown: this.#hidesPicture });
  }

  /** Makes a change by a control, and returns whether it is made. @param {string} control @param {object} body */
  async #make(control, body) {
    this.#busy.add(control);
    find(control).setAttribute("aria-busy", "true");
    const isDone = await this.#change(body);
    this.#busy.delete(control);
    find(control).removeAttribute("aria-busy");
    this.show(this.#share);
    return isDone;
  }

  /** Mutes all audio and the microphone, or unmutes what was muted so: the share knows it, because the desktop can mute, too. */
  toggleMute() {
    const { sounds, microphone } = this.#share;
    if (sounds?.length || microphone) this.#change({ isMuted: !this.#isSilent });
  }

  toggleLock() {
    if (this.#share.isLocked !== undefined) this.#change({ isLocked: !this.#share.isLocked });
  }

  get isPaused() {
    return this.#share.state === "paused";
  }

  get #isSilent() {
    const { sounds, microphone, isAudioMuted, isMicrophoneMuted } = this.#share;
    return (!sounds?.length || isAudioMuted) && (!microphone || isMicrophoneMuted);
  }

  /** Whether a pause shows a slate: the last choice. */
  get #hidesPicture() {
    return recall("slate") === "on";
  }

  #toggleSlate() {
    const hides = !this.#hidesPicture;
    remember("slate", hides ? "on" : "off");
    this.#keep({ hidesVideo: hides });
    this.show(this.#share);
    // A slate that is shown stays until the share resumes.
    if (this.isPaused && hides && !this.#share.isSlateShown) this.#change({ isPaused: true, isSlateShown: true });
  }

  #toggleCamera() {
    if (!this.#busy.has("camera")) this.#make("camera", { camera: { spec: this.#share.camera ? "none" : (recall(CAMERA) ?? "camera") } });
  }

  /** The link is unlocked last, so that nobody joins without the approval that was chosen. @param {string} access */
  async #allow(access) {
    if (access === "locked") return this.#make("access", { isLocked: true });
    const isDone = await this.#make("access", { needsApproval: access === "ask" });
    if (isDone && this.#share.isLocked) await this.#make("access", { isLocked: false });
  }

  /** @param {object} share */
  show(share) {
    this.#share = share;
    const { isPaused } = this;
    press(find("pause"), isPaused, text(isPaused ? "resume" : "pause"), isPaused ? "resume" : "pause");
    const isSilent = this.#isSilent;
    reveal(find("mute"), share.sounds?.length || share.microphone);
    press(find("mute"), isSilent, text(isSilent ? "unmute" : "mute"), isSilent ? "muted" : "sound");
    press(find("record"), Boolean(share.recording), text(share.recording ? "record.stop" : "record"), "record");
    reveal(find("recording"), share.recording);
    put(find("recording"), share.recording ? text("recording", { file: share.recording.file }) : "");
    if (!this.#busy.has("hint")) choose("hint", share.hint ?? "");
    if (!this.#busy.has("access")) choose("access", share.isLocked ? "locked" : share.needsApproval ? "ask" : "anyone");
    if (!this.#busy.has("bitrate")) this.#showRate(share);
    if (share.camera && recall(CAMERA) !== share.camera.spec) remember(CAMERA, share.camera.spec);
    showSource("sounds", share.sounds?.length, !share.isAudioMuted, share.sounds);
    showSource("microphone", share.microphone, !share.isMicrophoneMuted, [share.microphone]);
    showSource("camera", share.canSendCamera, share.camera, [share.camera]);
    flip(find("slate"), this.#hidesPicture);
  }

  /** @param {{ maxBitrate: number, isBitrateAutomatic: boolean }} share */
  #showRate({ maxBitrate, isBitrateAutomatic }) {
    const rates = isBitrateAutomatic || RATES.includes(maxBitrate) ? RATES : [...RATES, maxBitrate].sort((a, b) => a - b);
    const automatic = isBitrateAutomatic ? text("bitrate.auto", { rate: rate(maxBitrate) }) : text("hint.auto");
    offer(find("bitrate"), [["", automatic], ...rates.map((value) => [String(value), rate(value)])], isBitrateAutomatic ? "" : String(maxBitrate));
  }
}

function press(button, isPressed, words, icon) {
  button.classList.toggle("on", isPressed);
  put(button.querySelector("span"), words);
  mark(button.querySelector("use"), "href", `#icon-${icon}`);
}

function choose(name, value) {
  for (const input of document.querySelectorAll(`input[name=${name}]`)) input.checked = input.value === value;
}

/** Shows the row of a source beside the video, and why it gives nothing. @param {string} id @param {unknown} isThere @param {unknown} isOn @param {({ interruption?: string } | undefined)[]} [sources] */
function showSource(id, isThere, isOn, sources = []) {
  const row = find(`${id}-setting`);
  reveal(row, isThere);
  flip(find(id), Boolean(isOn));
  const reasons = sources.map((source) => sentence(source?.interruption)).filter(Boolean);
  reveal(row.querySelector(".reason"), reasons.length);
  put(row.querySelector(".reason"), reasons.join("\n"));
}

function flip(button, isOn) {
  mark(button, "aria-checked", String(isOn));
}
