/** What viewers see, received from the share by this browser. It rests while the page is hidden. */

import { Problem, request } from "./api.js";
import { text } from "./language.js";
import { find, put, reveal } from "./list.js";

const PATIENCE = 10_000; // ms until the video must have come

export class Preview {
  #fail;
  #video = find("preview").querySelector("video");
  #isWanted = false;
  /** @type {RTCPeerConnection | undefined} */
  #connection;
  /** The path of the preview, to end it. */
  #path = "";
  #timer = 0;

  /** @param {(problem: Problem) => void} fail */
  constructor(fail) {
    this.#fail = fail;
    find("preview-show").addEventListener("click", () => this.#toggle());
    // A hidden video does not play by itself.
    this.#video.addEventListener("loadeddata", () => {
      clearTimeout(this.#timer);
      reveal(this.#video, true);
      put(find("preview-text"), "");
    });
    document.addEventListener("visibilitychange", () => this.#isWanted && (document.hidden ? this.#close() : this.#open()));
  }

  /** Ends it with the share. */
  stop() {
    if (this.#isWanted) this.#toggle();
  }

  /** Shows it in another language. */
  clear() {
    this.#show("preview.text");
  }

  #toggle() {
    this.#isWanted = !this.#isWanted;
    if (this.#isWanted) this.#open();
    else this.#close();
  }

  #show(words) {
    put(find("preview-show"), text(this.#isWanted ? "preview.hide" : "preview.show"));
    if (this.#video.hidden) put(find("preview-text"), text(words));
  }

  async #open() {
    this.#show("preview.wait");
    const connection = (this.#connection = new RTCPeerConnection());
    const isCurrent = () => this.#connection === connection;
    this.#timer = setTimeout(() => this.#give(nothing()), PATIENCE);
    connection.addTransceiver("video", { direction: "recvonly" });
    connection.ontrack = ({ track }) => (this.#video.srcObject = new MediaStream([track]));
    connection.onconnectionstatechange = () => isCurrent() && connection.connectionState === "failed" && this.#give(nothing());
    try {
      await connection.setLocalDescription();
      await gathered(connection);
      const response = await request("POST", "v1/previews", { type: "offer", sdp: connection.localDescription.sdp });
      const path = response.headers.get("Location").slice(1);
      if (!isCurrent()) return end(path);
      this.#path = path;
      await connection.setRemoteDescription(await response.json());
    } catch (problem) {
      if (isCurrent()) this.#give(problem instanceof Problem ? problem : nothing());
    }
  }

  /** @param {Problem} problem */
  #give(problem) {
    this.stop();
    if (problem.status) this.#fail(problem);
  }

  #close() {
    clearTimeout(this.#timer);
    this.#connection?.close();
    this.#connection = undefined;
    if (this.#path) end(this.#path);
    this.#path = "";
    this.#video.srcObject = null;
    reveal(this.#video, false);
    this.#show("preview.text");
  }
}

/** No video has come. */
const nothing = () => new Problem(-1, { detail: text("preview.none") });

/** Waits for the candidates of this machine, of which there are few. @param {RTCPeerConnection} connection */
function gathered(connection) {
  return new Promise((done) => {
    const check = () => connection.iceGatheringState === "complete" && done();
    connection.addEventListener("icegatheringstatechange", check);
    check();
  });
}

/** Ends a preview sooner than its lost connection does. @param {string} path */
const end = (path) => request("DELETE", path).catch(() => {});
