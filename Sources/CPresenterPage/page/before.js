/** The form that starts a share. It begins with the choices of the last time. */

import { announce } from "./announcement.js";
import { Problem, UNLIMITED, get, request } from "./api.js";
import { choice, text } from "./language.js";
import { find, mark, offer, put, reveal } from "./list.js";
import { ProblemPanel } from "./problem.js";
import { recall } from "./settings.js";
import { drawWire } from "./wire.js";
import { sentence } from "./words.js";

/** The time (ms) that a camera or microphone needs until it can be opened again. */
const RELEASE = 500;
/** The lowest level that is shown, in dBFS. */
const SILENCE = -60;

export class Before {
  #sources;
  #picker;
  #problems;
  /** Whether the form has the choices of the last time. */
  #isFilled = false;
  #isStarting = false;
  /** The chosen devices, which may not be listed yet. */
  #devices = { audio: "none", microphone: "none", camera: "none" };

  /** @param {import("./sources.js").Sources} sources @param {import("./picker.js").Picker} picker */
  constructor(sources, picker) {
    this.#sources = sources;
    this.#picker = picker;
    this.#problems = new ProblemPanel(find("refusal"), () => picker.focus());
    find("start").addEventListener("submit", (event) => this.#submit(event));
    for (const kind of Object.keys(this.#devices)) find(`start-${kind}`).addEventListener("change", ({ target }) => this.#choose(kind, target.value));
    find("microphone-try").addEventListener("click", () => this.#toggle("microphone"));
    find("camera-try").addEventListener("click", () => this.#toggle("camera"));
  }

  /** Shows the form, with the choices of the last time unless it has been filled since the last share. */
  async show() {
    find("picker-place").append(find("picker"));
    drawWire(find("before").querySelector(".wire"), { dots: [false] });
    if (!this.#isFilled) {
      this.#isFilled = true;
      this.#fill(await get("v1/choices").catch(() => ({})));
    }
    if (!find("before").hidden) this.#sources.start();
  }

  /** Ends everything that the form needs. @param {boolean} isShared the next share begins with other choices */
  hide(isShared) {
    this.#sources.stop();
    this.#problems.hide();
    if (isShared) this.#isFilled = false;
    this.#setStarting(false);
  }

  /** Shows the sources that are there now. */
  list() {
    const { sounds = [], cameras = [] } = this.#sources.lists;
    const named = (kind) => sounds.filter((sound) => sound.kind === kind).map(({ spec, description }) => [spec, description]);
    const outputs = named("sink");
    this.#offer("audio", [["system", text("audio.computer")], ...(outputs.length > 1 ? outputs : [])]);
    this.#offer("microphone", [["microphone", text("device.default")], ...named("source")]);
    this.#offer("camera", cameras.map(({ spec, description }) => [spec, description]));
    const reason = sounds.length ? "" : this.#sources.reasons.sounds;
    reveal(find("sounds-reason"), reason);
    put(find("sounds-reason"), sentence(reason));
    for (const kind of ["microphone", "camera"]) {
      const isTried = this.#sources.tried[kind] === this.#devices[kind];
      reveal(find(`${kind}-try`), this.#devices[kind] !== "none");
      reveal(find(`${kind}-trial`), isTried);
    }
    put(find("microphone-try"), text(find("microphone-trial").hidden ? "microphone.try" : "microphone.end"));
    put(find("camera-try"), text(find("camera-trial").hidden ? "camera.show" : "camera.hide"));
    if (find("microphone-trial").hidden) find("level").value = SILENCE;
    if (find("camera-trial").hidden) reveal(find("camera-image"), false);
    this.name();
  }

  /** Shows the chosen source. */
  name() {
    if (this.#isStarting) return;
    put(find("chosen"), this.#picker.name || text("picker.none"));
    mark(find("begin"), "aria-disabled", String(!this.#picker.spec));
  }

  /** @param {string} spec @param {string} image */
  picture(spec, image) {
    if (spec !== this.#devices.camera || find("camera-trial").hidden) return;
    find("camera-image").src = image;
    reveal(find("camera-image"), true);
  }

  /** @param {number} peak */
  hear(peak) {
    find("level").value = Math.max(SILENCE, peak);
  }

  /** @param {"microphone" | "camera"} kind @param {string} [reason] */
  tell(kind, reason = "") {
    reveal(find(`${kind}-reason`), reason);
    put(find(`${kind}-reason`), sentence(reason));
  }

  #fill({ source, audio, microphone, camera, attendee, needsApproval, hint, isRecording, isOnInternet }) {
    this.#devices = { audio: audio?.[0] ?? "none", microphone: microphone ?? "none", camera: camera ?? "none" };
    const form = find("start").elements;
    form.namedItem("approval").value = needsApproval ? "ask" : "anyone";
    form.namedItem("optimization").value = hint ?? "auto";
    form.namedItem("attendee").value = attendee ?? "";
    form.namedItem("recording").checked = Boolean(isRecording);
    form.namedItem("internet").checked = Boolean(isOnInternet);
    this.list();
    this.#picker.wish(source);
  }

  /** Everything that the form shows is said: `none` also where a configuration file has another default. */
  get #start() {
    const form = find("start").elements;
    const { audio, microphone, camera } = this.#devices;
    const attendee = form.namedItem("attendee").value.trim();
    return {
      source: this.#picker.spec, audio: [audio], microphone, camera, hidesVideo: recall("slate") === "on", language: choice,
      needsApproval: form.namedItem("approval").value === "ask",
      hint: form.namedItem("optimization").value,
      isRecording: form.namedItem("recording").checked,
      isOnInternet: form.namedItem("internet").checked,
      ...(attendee && { attendee }),
    };
  }

  async #submit(event) {
    event.preventDefault();
    if (this.#isStarting) return;
    if (!this.#picker.spec) {
      announce(text("picker.none"));
      return this.#picker.focus();
    }
    this.#problems.hide();
    this.#setStarting(true);
    try {
      await this.#release();
      await request("POST", "v1/share", this.#start, UNLIMITED);
      // The events bring the share.
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      this.#setStarting(false);
      if (problem.status) this.#problems.show(problem);
    }
  }

  /** Ends what is tried, as the share needs it. */
  async #release() {
    const isTrying = Object.keys(this.#sources.tried).length > 0;
    for (const kind of Object.keys(this.#sources.tried)) this.#sources.try(kind, undefined);
    if (isTrying) await new Promise((done) => setTimeout(done, RELEASE));
  }

  #setStarting(isStarting) {
    this.#isStarting = isStarting;
    put(find("begin"), text(isStarting ? "before.starting" : "before.share"));
    if (!isStarting) return this.name();
    mark(find("begin"), "aria-disabled", "true");
    const isAsking = this.#picker.spec === "portal";
    announce(text(isAsking ? "before.asking" : "before.starting"));
    if (isAsking) put(find("chosen"), text("before.asking"));
  }

  #offer(kind, options) {
    offer(find(`start-${kind}`), [["none", text("device.none")], ...options], this.#devices[kind]);
  }

  #choose(kind, spec) {
    if (kind !== "audio") {
      this.tell(kind);
      if (this.#sources.tried[kind] === this.#devices[kind]) this.#sources.try(kind, undefined);
    }
    this.#devices[kind] = spec;
    this.list();
  }

  #toggle(kind) {
    this.tell(kind);
    this.#sources.try(kind, this.#sources.tried[kind] === this.#devices[kind] ? undefined : this.#devices[kind]);
  }
}
