"use strict";
/**
 * Watches one video track: when its frames are shown, when the test pattern flashes, and how large it is.
 *
 * The flash is a square at the right lower corner, an eighth of the picture's height. Its time is the callback's
 * `expectedDisplayTime`, when a person sees that frame, and not the time of the callback, which a busy page delays.
 */
class VideoWatch {
  constructor(element, track, entry) {
    this.element = element;
    this.report = Object.assign(entry, { frame_times_ms: [], flashes_ms: [], sizes: [], snapshots: [] });
    this.isWhite = true; // until a black one was seen: a flash that is under way at the first frame has no beginning
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 4;
    this.corner = canvas.getContext("2d", { willReadFrequently: true });
    element.srcObject = new MediaStream([track]);
    if (element.requestVideoFrameCallback) {
      this.awaitFrame();
    } else {
      setInterval(() => this.countFrames(), 10);
    }
    element.play().catch((reason) => complain(`play: ${reason}`));
  }

  awaitFrame() {
    let presented = 0;
    const shown = (now, metadata) => {
      const skipped = presented ? metadata.presentedFrames - presented : 1;
      for (let count = 0; count < Math.max(1, skipped); count++) this.report.frame_times_ms.push(unixNow());
      presented = metadata.presentedFrames;
      this.element.requestVideoFrameCallback(shown);
      this.noteSize(metadata.width, metadata.height);
      this.lookForFlash(performance.timeOrigin + (metadata.expectedDisplayTime || now));
    };
    this.element.requestVideoFrameCallback(shown);
  }

  /** Where a browser lacks the callback, its count is polled instead; flashes are not looked for. */
  countFrames() {
    const quality = this.element.getVideoPlaybackQuality(), times = this.report.frame_times_ms;
    if (times.length < quality.totalVideoFrames) this.noteSize(this.element.videoWidth, this.element.videoHeight);
    while (times.length < quality.totalVideoFrames - quality.droppedVideoFrames) times.push(unixNow());
  }

  noteSize(width, height) {
    const last = this.report.sizes.at(-1);
    if (last && last.width === width && last.height === height) return;
    if (this.report.sizes.length < 1000) this.report.sizes.push({ at_ms: unixNow(), width, height });
  }

  lookForFlash(at) {
    const { videoWidth: width, videoHeight: height } = this.element;
    const square = height / 8;
    // The middle of the square: what the codec blurs at its edges is left out.
    this.corner.drawImage(this.element, width - square * 0.75, height - square * 0.75, square / 2, square / 2,
                          0, 0, 4, 4);
    const pixels = this.corner.getImageData(0, 0, 4, 4).data;
    let luma = 0;
    for (let i = 0; i < pixels.length; i += 4) {
      luma += (0.2126 * pixels[i] + 0.7152 * pixels[i + 1] + 0.0722 * pixels[i + 2]) / 16;
    }
    const isWhite = luma > 180;
    if (isWhite && !this.isWhite) this.report.flashes_ms.push(at);
    this.isWhite = isWhite;
  }

  /** The picture is taken from the element and not in a frame callback: a still screen may send no further frame. */
  async snapshot(name, asked) {
    const canvas = document.createElement("canvas");
    canvas.width = this.element.videoWidth;
    canvas.height = this.element.videoHeight;
    canvas.getContext("2d").drawImage(this.element, 0, 0);
    const at = unixNow();
    const picture = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!picture) throw new Error(`no picture at ${asked} s: the video is ${canvas.width}x${canvas.height}`);
    await post(`/${name}`, picture, "image/png");
    const entry = { file: name, asked_s: asked, at_ms: at, width: canvas.width, height: canvas.height };
    this.report.snapshots.push(entry);
    return entry;
  }
}
