"use strict";
/* Notes what this page shows of a shared screen, by screen_receiver.py's options. `receiverHome` is the address of that script, and
   empty on its own page. On another program's page, what is judged is the element with the picture: a video or a canvas. */

const sleep = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
// Of this type, another page may post it without asking for permission first.
const post = (path, body) => fetch(receiverHome + path, { method: "POST", body, headers: { "Content-Type": "text/plain" } });
const postJSON = (path, value) => post(path, JSON.stringify(value));

const report = { frames: [], samples: [], stats: [], width: 0, height: 0, replaced_frames: 0 };
const sent = []; // pictures that are on their way to the server
let options = null;
let offset = 0; // what the system's monotonic clock shows where performance.now() shows 0, in milliseconds

/** Asks for the system's monotonic clock, and keeps the answer that took the shortest time. */
async function compareClocks() {
  let shortest = Infinity;
  for (let count = 0; count < 20; count++) {
    const asked = performance.now();
    const there = Number(await (await fetch(receiverHome + "/clock")).text());
    const answered = performance.now();
    if (answered - asked < shortest) {
      shortest = answered - asked;
      offset = there - (asked + answered) / 2;
    }
  }
}

// Luma

const even = (length) => Math.ceil(length / 2) * 2;
let bytes = new Uint8Array(0);
let converted = new Uint8Array(0);

/** The luma of pixels of four bytes: BT.601's, of which red is the first byte or the third. */
function convert(pixels, start, stride, width, height, red = 0) {
  if (converted.length < width * height) converted = new Uint8Array(width * height);
  for (let y = 0, to = 0; y < height; y++) {
    for (let from = start + y * stride, end = from + 4 * width; from < end; from += 4) {
      converted[to++] = ((66 * pixels[from + red] + 129 * pixels[from + 1] + 25 * pixels[from + 2 - red] + 128) >> 8) + 16;
    }
  }
  return { data: converted, start: 0, stride: width };
}

const copies = {};

/** The luma of a part of a canvas, whichever context it has, or of a frame in its colours. */
function lumaOfShown(source, { width, height }, purpose) {
  const copy = copies[purpose] ??= new OffscreenCanvas(width, height);
  if (copy.width !== width || copy.height !== height) [copy.width, copy.height] = [width, height];
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.drawImage(source, 0, 0, width, height, 0, 0, width, height);
  return convert(context.getImageData(0, 0, width, height).data, 0, 4 * width, width, height);
}

/** The luma of a part of a frame: bytes, where they start, and the length of a row. */
async function lumaOfFrame(frame, rect, purpose) {
  // Another program's frames may have another luma than the one that they are compared with.
  if (receiverHome && frame.colorSpace?.matrix === "bt709") return lumaOfShown(frame, rect, purpose);
  const size = frame.allocationSize({ rect });
  if (bytes.length < size) bytes = new Uint8Array(size);
  const [{ offset: start, stride }] = await frame.copyTo(bytes, { rect });
  if (/^(I420|I422|I444|NV12)/.test(frame.format)) return { data: bytes, start, stride };
  if (!/^(RGB|BGR)/.test(frame.format ?? "")) throw new Error(`frames are ${frame.format}, without a plane of luma`);
  return convert(bytes, start, stride, rect.width, rect.height, frame.format.startsWith("BGR") ? 2 : 0);
}

/** The part of a picture of this width that has the tick's code. */
function codeOf(width) {
  const square = options.square * width / options.width;
  return { square, width: even(square * options.squares), height: even(square) };
}

/** The mean luma of the middle of each square: at its edges the codec's filter mixes neighbours. */
function squaresOf({ data, start, stride }, square) {
  const middle = (from) => [Math.floor(from + square / 4), Math.max(Math.floor(from + square / 4) + 1,
                                                                   Math.floor(from + square * 3 / 4))];
  const [top, bottom] = middle(0);
  return Array.from({ length: options.squares }, (_, index) => {
    const [left, right] = middle(index * square);
    let sum = 0;
    for (let y = top; y < bottom; y++) {
      for (let x = left; x < right; x++) sum += data[start + y * stride + x];
    }
    return Math.round(sum / ((bottom - top) * (right - left)));
  });
}

// Videos

const LATEST_DISPLAY = 34; // ms: two refreshes

let current = null; // what is on the screen: a frame or a canvas, its number, and when it came there
let presented = 0;
let noteFirst = null;
const firstShown = new Promise((resolve) => { noteFirst = resolve; });

const isDisplayed = (element) => element.getClientRects().length > 0;

/** Notes what comes to the screen: when, how bright the squares are that tell its tick, and how large it is. */
function note(shown, at, squares, { width, height }) {
  report.frames.push([at, squares]);
  [report.width, report.height] = [width, height];
  current?.frame?.close();
  current = { ...shown, at, number: report.frames.length - 1 };
  noteFirst();
}

/** Notes the frames that a video shows. */
function watchVideo(video) {
  const noteShown = async (now, metadata) => {
    video.requestVideoFrameCallback(noteShown);
    if (!isDisplayed(video)) return;
    if (presented) report.replaced_frames += metadata.presentedFrames - presented - 1;
    presented = metadata.presentedFrames;
    // What comes after a rest is said to be due as late as the rest was long, or before it was there; it is shown with one
    // of the next refreshes.
    const due = Math.min(metadata.expectedDisplayTime || now, now + LATEST_DISPLAY);
    const at = Math.max(due, metadata.presentationTime);
    const frame = new VideoFrame(video);
    const { x, y, width, height } = frame.visibleRect;
    const code = codeOf(width);
    const luma = await lumaOfFrame(frame, { x, y, width: code.width, height: code.height }, "code");
    note({ frame }, at, squaresOf(luma, code.square), frame.visibleRect);
  };
  video.requestVideoFrameCallback(noteShown);
}

const REFRESH = 1000 / 60; // ms

/** Whether nothing in a canvas is brighter than a page's background. */
function isBlank(canvas) {
  const copy = copies.blank ??= new OffscreenCanvas(64, 36);
  const context = copy.getContext("2d", { willReadFrequently: true });
  context.clearRect(0, 0, copy.width, copy.height);
  context.drawImage(canvas, 0, 0, copy.width, copy.height);
  return !context.getImageData(0, 0, copy.width, copy.height).data.some((value, index) => index % 4 < 3 && value > 60);
}

/** Notes what a page shows: the frames of a video or, without one, each refresh with which a canvas shows another tick. */
function watchElements() {
  const watched = new Set();
  let tick = null;
  const isLarge = (canvas) => 2 * canvas.width >= options.width && isDisplayed(canvas);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data: now }) => {
    const canvas = [...document.querySelectorAll("canvas")].find(
      (canvas) => isLarge(canvas) && (canvas === current?.canvas || !isBlank(canvas)));
    if (!canvas) return;
    const code = codeOf(canvas.width);
    const squares = squaresOf(lumaOfShown(canvas, code, "code"), code.square);
    const seen = squares.map((value) => (value > 126 ? 1 : 0)).join("");
    if (seen !== tick) note({ canvas }, now + REFRESH, squares, canvas);
    tick = seen;
  };
  const look = (now) => {
    requestAnimationFrame(look);
    const videos = [...document.querySelectorAll("video")];
    videos.filter((video) => !watched.has(video)).forEach(watchVideo);
    videos.forEach((video) => watched.add(video));
    // The message comes after what the page itself draws for this refresh.
    if (!videos.some((video) => video.videoWidth && isDisplayed(video))) port2.postMessage(now);
  };
  requestAnimationFrame(look);
}

// Samples

let kept = -1;
let pictures = 0;

/** Hands over what the screen shows now; a frame that stands is handed over once. */
async function sample() {
  if (current?.number === undefined) return;
  const { frame, canvas, at, number } = current;
  // A canvas may change without another tick.
  const picture = canvas ? pictures++ : number;
  report.samples.push({ at_ms: Math.max(at, performance.now()), frame: number, picture });
  if (picture === kept) return;
  kept = picture;
  const { width, height } = canvas ?? frame.visibleRect;
  const luma = canvas ? lumaOfShown(canvas, canvas, "picture") : await lumaOfFrame(frame, frame.visibleRect, "picture");
  if (luma.stride !== width) throw new Error(`rows of ${width} have a stride of ${luma.stride}`);
  // The next sample is due whether or not this one has gone.
  sent.push(post(`/picture-${picture}-${width}x${height}`, luma.data.slice(luma.start, luma.start + width * height)));
}

async function noteStatistics(connection) {
  const all = [...((await connection?.getStats())?.values() ?? [])];
  const inbound = all.find((entry) => entry.type === "inbound-rtp" && entry.kind === "video");
  const transport = all.find((entry) => entry.type === "transport");
  const tcp = receiverHome ? Number(await (await fetch(receiverHome + "/tcp")).text()) : 0;
  report.stats.push({ at_ms: performance.now(), inbound, bytes: tcp + (transport?.bytesReceived ?? 0) });
}

/** Does something at each of a beat's times, whatever it takes. */
async function repeat(interval, until, what) {
  for (let due = performance.now() + interval; due <= until; due += interval) {
    await sleep(Math.max(0, due - performance.now()));
    await what();
  }
}

/** Watches for as long as it should, from `begin` on; `connection` gives the one that is open by then, or null. */
async function watch(begin, connection) {
  await postJSON("/connected", offset + begin);
  const until = begin + options.duration * 1000;
  await noteStatistics(connection());
  await Promise.all([
    repeat(1000 / options.samples, until, sample),
    repeat(1000, until, () => noteStatistics(connection())),
  ]);
  await noteStatistics(connection());
  await Promise.all(sent);
}

/** Reports what was seen, by the system's clock, and why it ended badly if it did. */
function finish(watching) {
  watching.then(() => ({}), (reason) => ({ error: `${reason}` })).then((ending) => {
    for (const frame of report.frames) frame[0] += offset;
    for (const entry of [...report.samples, ...report.stats]) entry.at_ms += offset;
    postJSON("/done", { ...report, opened_ms: offset, ...ending });
  });
}

/** Watches another program's page, from its first picture on. */
async function watchPage() {
  options = await (await fetch(receiverHome + "/options")).json();
  watchElements();
  await firstShown;
  await compareClocks();
  await watch(performance.now(), () => window.watched.connections.at(-1));
}
