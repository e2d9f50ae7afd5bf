/** One picture of an attendee: what is shared, or the attendee's own. */

export class Tile {
  element = document.createElement("div");
  video = document.createElement("video");
  /** The last picture, for as long as the next track has none. */
  #still = document.createElement("canvas");
  #hasPicture = false;
  #isAwaited = false;
  #isBlocked = false;
  #changed;
  stream = "";

  /** @param {string} label the key of its name @param {() => void} changed its size, or whether there is a picture */
  constructor(label, changed) {
    this.#changed = changed;
    this.element.className = "tile";
    this.element.hidden = true;
    this.#still.hidden = true;
    this.#still.setAttribute("aria-hidden", "true");
    // Sound is played by elements of its own, so that a picture alone never has to wait for a click.
    Object.assign(this.video, { muted: true, autoplay: true, playsInline: true, disableRemotePlayback: true, tabIndex: -1 });
    this.video.setAttribute("playsinline", "");
    this.video.dataset.label = label;
    this.video.addEventListener("resize", () => this.#changed());
    // A phone pauses what it thinks is not looked at.
    this.video.addEventListener("pause", () => this.play());
    // A media key starts it, too.
    this.video.addEventListener("playing", () => this.#block(false));
    // Or Firefox lays a button of its own over the picture; the bar has one.
    this.video.disablePictureInPicture = true;
    this.video.addEventListener("leavepictureinpicture", () => (this.video.disablePictureInPicture = true));
    this.element.append(this.video, this.#still);
  }

  /** In a click or a key press. */
  async popOut() {
    this.video.disablePictureInPicture = false;
    try {
      await this.video.requestPictureInPicture();
    } catch {
      this.video.disablePictureInPicture = true;
    }
  }

  get hasPicture() {
    return this.#hasPicture;
  }

  /** Whether the browser plays nothing before a click or a key press. */
  get isBlocked() {
    return this.#isBlocked;
  }

  /** Pixels of what is shown. */
  get size() {
    const source = this.#still.hidden ? { width: this.video.videoWidth, height: this.video.videoHeight } : this.#still;
    return { width: source.width, height: source.height };
  }

  /** @param {MediaStreamTrack} track */
  show(track) {
    this.freeze();
    this.#isAwaited = true;
    this.video.srcObject = new MediaStream([track]);
    const arrived = () => {
      if (this.video.srcObject?.getTracks()[0] !== track) return;
      this.#hasPicture = true;
      this.#isAwaited = false;
      this.thaw();
      this.#changed();
    };
    if (this.video.requestVideoFrameCallback) this.video.requestVideoFrameCallback(arrived);
    else this.video.addEventListener("loadeddata", arrived, { once: true });
    this.play();
  }

  play() {
    if (!this.video.srcObject || document.hidden) return;
    this.video.play().catch(() => {});
    // If that is allowed, the video counts as playing at once, even before its first frame.
    this.#block(this.video.paused);
  }

  #block(isBlocked) {
    if (isBlocked === this.#isBlocked) return;
    this.#isBlocked = isBlocked;
    this.#changed();
  }

  /** Keeps the last picture though its connection goes. */
  freeze() {
    const { videoWidth: width, videoHeight: height } = this.video;
    if (!this.#hasPicture || !width || !this.#still.hidden) return;
    Object.assign(this.#still, { width, height });
    this.#still.getContext("2d")?.drawImage(this.video, 0, 0);
    this.#still.hidden = false;
  }

  /** Shows what comes again, unless that is still awaited. */
  thaw() {
    if (this.#isAwaited || this.#still.hidden) return;
    this.#still.hidden = true;
    // A canvas keeps its memory for as long as it has a size.
    this.#still.width = this.#still.height = 0;
  }

  clear() {
    this.#isAwaited = this.#isBlocked = false;
    this.thaw();
    this.video.srcObject = null;
    this.#hasPicture = false;
    this.#changed();
  }
}
