"use strict";
/**
 * Listens to one audio track through WebAudio: energy, pitch of each channel, and the beeps of the test source.
 *
 * The times are those at which the sound leaves the browser, as `getOutputTimestamp` relates the context's clock to the
 * page's: the jitter buffer, the browser's own lip sync and the output's latency are all in them. Without a sound
 * device Chromium plays to a timer of its own and the times hold all the same; Firefox's context does not start.
 *
 * WebAudio's way out is a little longer than that of the element which a person listens to: in Chromium 44 ms from the
 * jitter buffer on, where the element's takes 30 ms by getStats' totalPlayoutDelay. So sound seems some 14 ms later
 * than it is. The browser also takes seconds to bring both together after the start; only what follows judges a sender.
 */
class SoundWatch {
  /** Runs on the audio thread; `viewer_media.py` says what is in a block. */
  static meter = () => {
    registerProcessor("meter", class extends AudioWorkletProcessor {
      constructor() {
        super();
        const divisor = (a, b) => (b ? divisor(b, a % b) : a);
        const period = sampleRate / divisor(1000, sampleRate);
        this.wave = Array.from({ length: period }, (_, i) => {
          const phase = (2 * Math.PI * 1000 * i) / sampleRate;
          return [Math.cos(phase), Math.sin(phase)];
        });
        this.step = Math.round(sampleRate / 400);
        this.window = Array.from({ length: 8 }, (_, i) => 1 - Math.cos((2 * Math.PI * (i + 0.5)) / 8));
        this.recent = this.window.map(() => [0, 0]);
        this.sum = [0, 0];
        this.count = 0;
        this.begin(0);
      }

      begin(frame) {
        this.block = { frame, left: 0, right: 0, difference: 0, levels: [] };
      }

      process(inputs) {
        const left = inputs[0][0], right = inputs[0][1] || left;
        for (let i = 0; i < 128; i++) {
          if (this.count === 0 && this.block.levels.length === 0) this.begin(currentFrame + i);
          const l = left ? left[i] : 0, r = right ? right[i] : 0;
          this.block.left += l * l;
          this.block.right += r * r;
          this.block.difference += (l - r) * (l - r);
          const [cosine, sine] = this.wave[(currentFrame + i) % this.wave.length];
          this.sum[0] += ((l + r) / 2) * cosine;
          this.sum[1] += ((l + r) / 2) * sine;
          if (++this.count === this.step) this.endStep();
        }
        return true;
      }

      endStep() {
        this.recent.shift();
        this.recent.push(this.sum);
        this.sum = [0, 0];
        this.count = 0;
        let real = 0, imaginary = 0;
        this.window.forEach((weight, i) => {
          real += weight * this.recent[i][0];
          imaginary += weight * this.recent[i][1];
        });
        // The window's weights add up to 8.
        const level = (2 * Math.hypot(real, imaginary)) / (8 * this.step);
        this.block.levels.push(Math.round(level * 1e5) / 1e5);
        if (this.block.levels.length === 40) {
          const count = 40 * this.step;
          for (const key of ["left", "right", "difference"]) this.block[key] /= count;
          this.block.seconds = count / sampleRate;
          this.port.postMessage(this.block);
          this.begin(currentFrame);
        }
      }
    });
  };

  static async open() {
    // No rate is asked for: Firefox plays streams only at that of the device.
    const context = new AudioContext({ latencyHint: "interactive" });
    const module = new Blob([`(${SoundWatch.meter})()`], { type: "text/javascript" });
    await context.audioWorklet.addModule(URL.createObjectURL(module));
    context.resume().catch((reason) => complain(`AudioContext: ${reason}`));
    return context;
  }

  constructor(context, track, entry) {
    this.context = context;
    this.report = Object.assign(entry, { blocks: [] });
    this.stream = new MediaStream([track]);
    // Chromium decodes a remote sound only for an element; WebAudio alone would get silence.
    this.element = new Audio();
    this.element.muted = true;
    this.element.srcObject = this.stream;
    this.element.play().catch((reason) => complain(`play: ${reason}`));

    this.source = context.createMediaStreamSource(this.stream);
    this.node = new AudioWorkletNode(context, "meter", { numberOfOutputs: 0 });
    this.node.port.onmessage = ({ data }) => this.note(data);
    this.source.connect(this.node);

    const splitter = context.createChannelSplitter(2);
    this.source.connect(splitter);
    this.spectra = [0, 1].map((channel) => {
      const analyser = context.createAnalyser();
      analyser.fftSize = 16384;
      analyser.smoothingTimeConstant = 0;
      splitter.connect(analyser, channel);
      return { analyser, bins: new Float32Array(8192), power: new Float64Array(8192) };
    });
    this.polling = setInterval(() => this.spectra.forEach((spectrum) => this.addSpectrum(spectrum)), 350);
  }

  note(block) {
    const { contextTime, performanceTime } = this.context.getOutputTimestamp();
    block.offset = performanceTime - contextTime * 1000;
    if (contextTime > 0) this.report.blocks.push(block);
  }

  addSpectrum({ analyser, bins, power }) {
    analyser.getFloatFrequencyData(bins);
    for (let i = 0; i < bins.length; i++) if (bins[i] > -110) power[i] += 10 ** (bins[i] / 10);
  }

  /** The loudest pitch above 50 Hz, between the bins by a parabola through the decibels; null for silence. */
  peak({ power }) {
    const width = this.context.sampleRate / 16384;
    let best = Math.ceil(50 / width);
    for (let i = best; i < power.length - 1; i++) if (power[i] > power[best]) best = i;
    if (!(power[best] > 0)) return null;
    const [a, b, c] = [-1, 0, 1].map((step) => Math.log(power[best + step] + 1e-12));
    const share = a + c - 2 * b < 0 ? (a - c) / (2 * (a + c - 2 * b)) : 0;
    return Math.round((best + share) * width * 10) / 10;
  }

  finish() {
    clearInterval(this.polling);
    const blocks = this.report.blocks, offsets = blocks.map((block) => block.offset);
    blocks.forEach((block, i) => {
      // One reading of the two clocks jitters by a buffer, so the middle one of four seconds' counts.
      const near = offsets.slice(Math.max(0, i - 20), i + 21).sort((a, b) => a - b);
      const offset = near[near.length >> 1];
      block.at_ms = performance.timeOrigin + offset + (block.frame / this.context.sampleRate) * 1000;
      delete block.offset;
    });
    this.report.left_peak_hz = this.peak(this.spectra[0]);
    this.report.right_peak_hz = this.peak(this.spectra[1]) ?? this.report.left_peak_hz;
    return this.report;
  }
}
