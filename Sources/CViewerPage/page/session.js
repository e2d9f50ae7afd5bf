/**
 * One WHEP session: a peer connection, its resource at the server, and the events of the share.
 * It notices that it broke and can be mended by an ICE restart; whether and when is decided in watch.js.
 */

import { Problem, Resource } from "./whep.js";
import { askForStereo, attribute, fragment, withTransport } from "./sdp.js";

/** @typedef {"asking" | "paths" | "picture"} Step what a connecting session waits for */
/** @typedef {"lost" | "gone"} Fault lost: an ICE restart may help; gone: only a new session does */
/** @typedef {"content" | "own"} Role */
/** @typedef {{ stream: string, state: "live" | "paused" | "off" }} TileState */
/**
 * @typedef {object} ShareState
 * @property {"waiting" | "live" | "paused" | "ended" | "removed" | "declined"} state
 * @property {string} [name]
 * @property {TileState[]} [tiles]
 * @property {number} [viewers]
 * @property {boolean} [sound]
 */
/**
 * @typedef {object} SessionObserver
 * @property {(step: Step) => void} step
 * @property {(role: Role, stream: string, track: MediaStreamTrack) => void} track
 * @property {(state: ShareState) => void} state
 */

/** Checks through a relay over TLS may take this long on a phone's network. */
const PATH_PATIENCE = 12_000;
/** An ICE restart that works does so in a few round trips. */
const RESTART_PATIENCE = 6000;
/** `disconnected` often passes by itself: one lost consent check is enough for it. */
const DISCONNECTED_PATIENCE = 1500;
/**
 * Nothing comes for so long: an ICE restart costs little, and a browser's own timeout takes ten seconds. Even of a still
 * picture reports come each second. Where the events have broken off too, there is less doubt.
 */
const SILENCE = 4000;
const SILENCE_WITHOUT_EVENTS = 2500;
const SILENCE_STEP = 500;
/** A step that is so late means that the machine or the page slept, and the presenter may have given this viewer up. */
const SLEPT = 5000;
const SILENCE_AFTER_SLEEP = 1500;
/** Packets that arrived before the sleep are read within this time. */
const WAKING = 3000;
const EVENTS_PAUSE = 2000;
/** Candidates come in bursts: one request takes those of a burst. */
const TRICKLE_PAUSE = 50;

/** The states after which this viewer gets nothing more. */
const VERDICTS = ["ended", "removed", "declined"];

/** The order in which the server fills an offer's sections. */
const SECTIONS = [["video", "content"], ["audio", "content"], ["video", "own"], ["audio", "own"]];

export class NoPath extends Error {}

function deferred() {
  let resolve;
  const promise = new Promise((take) => (resolve = take));
  return { promise, resolve };
}

export class Session {
  #abort = new AbortController();
  #link;
  #observer;
  #connection;
  #resource;
  #events;
  /** How the share ended for this viewer. @type {"ended" | "removed" | "declined" | undefined} */ verdict;
  #fault = deferred();
  /** Before, what goes wrong is the business of open(). */
  #isOpen = false;
  #isLive = false;
  #heard = { bytes: -1, at: 0 };
  /** When silence was last looked for (of Date.now(), which goes on in a sleep), and until when a sleep is just over. */
  #looked = { at: Infinity, wakingUntil: 0 };
  #offer = "";
  #candidates = [];
  #gathered = false;
  /** Requests follow one another: a server may take them in the order in which they come. */
  #trickling = Promise.resolve();
  #timers = new Map();

  /** @param {import("./link.js").Link} link @param {SessionObserver} observer */
  constructor(link, observer) {
    this.#link = link;
    this.#observer = observer;
    this.#connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  }

  get connection() {
    return this.#connection;
  }

  get resource() {
    return this.#resource;
  }

  get isClosed() {
    return this.#abort.signal.aborted;
  }

  /** All media share it (max-bundle). */
  get #dtls() {
    return this.#connection.getReceivers().find(({ transport }) => transport)?.transport;
  }

  get #isConnected() {
    return ["connected", "completed"].includes(this.#connection.iceConnectionState);
  }

  /** Returns once a path is found; throws a Problem, or NoPath. */
  async open() {
    const connection = this.#connection;
    const roles = new Map();
    for (const [kind, role] of SECTIONS) {
      roles.set(connection.addTransceiver(kind, { direction: "recvonly" }), role);
    }
    connection.ontrack = ({ track, streams, transceiver }) =>
      this.#observer.track(roles.get(transceiver) ?? "content", streams[0]?.id ?? "", track);
    connection.onicecandidate = ({ candidate }) => this.#take(candidate);
    connection.oniceconnectionstatechange = () => this.#iceStateChanged();
    connection.onconnectionstatechange = () => this.#connectionStateChanged();

    const offer = await connection.createOffer();
    this.#offer = askForStereo(offer.sdp ?? "");
    this.#step("asking");
    this.#resource = await Resource.create(this.#link, this.#offer, this.#abort.signal);
    if (this.isClosed) return this.#resource.delete();
    this.#listen();
    // The offer is applied only now: gathering begins with that, and has to know the servers that came with the answer.
    // Nothing is lost by it, as nothing can be checked before the answer is there.
    this.#useServers(this.#resource.servers);
    await connection.setLocalDescription({ type: "offer", sdp: this.#offer });
    await connection.setRemoteDescription({ type: "answer", sdp: this.#resource.answer });
    this.#step("paths");
    this.#dtls?.addEventListener("statechange", () => this.#connectionStateChanged());
    if (!(await this.#connected(PATH_PATIENCE))) throw new NoPath();
    this.#isOpen = true;
    this.#step("picture");
    this.#heard.at = performance.now();
    this.#listenForSilence();
  }

  #step(step) {
    if (!this.isClosed) this.#observer.step(step);
  }

  /**
   * What ended the connection, the next time that something does.
   * @returns {Promise<Fault>}
   */
  broken() {
    return this.#fault.promise;
  }

  /** The network changed: what was connected or being checked may lead nowhere. */
  doubt() {
    if (this.#isOpen) this.#lose();
    else this.#fault.resolve("gone");
  }

  #lose() {
    if (this.#isOpen) this.#fault.resolve("lost");
  }

  /**
   * An ICE restart. True once the connection is up again; throws a Problem where the server refuses it or does not answer.
   * @returns {Promise<boolean>}
   */
  async restart() {
    const connection = this.#connection;
    const resource = this.#resource;
    if (!resource) return false;
    const offer = await connection.createOffer({ iceRestart: true });
    const sdp = askForStereo(offer.sdp ?? "");
    const restarted = await resource.restart(fragment(sdp, [], false), this.#abort.signal);
    const answer = withTransport(resource.answer, restarted);
    if (!answer) throw new Problem(422);
    this.#offer = sdp;
    this.#candidates = [];
    this.#gathered = false;
    // Passwords of servers may be valid for a limited time.
    this.#useServers(resource.servers);
    await connection.setLocalDescription({ type: "offer", sdp });
    await connection.setRemoteDescription({ type: "answer", sdp: answer });
    resource.answer = answer;
    return this.#connected(RESTART_PATIENCE);
  }

  /** Once the connection that was down is up, by itself too; never where it stays so. @param {() => void} action */
  onceConnected(action) {
    const look = () => {
      if (!this.#isConnected) return;
      this.#connection.removeEventListener("iceconnectionstatechange", look);
      action();
    };
    this.#connection.addEventListener("iceconnectionstatechange", look);
  }

  /** After a fault that is no more: waits for the next one. */
  mended() {
    this.#fault = deferred();
    this.#heard.at = performance.now();
    this.#iceStateChanged();
  }

  /**
   * Adopts the verdict of the former session: its events can be lost, or its path was down when the presenter removed the
   * viewer. Throws a Problem if the server does not answer.
   * @param {Resource} former
   */
  async learnVerdict(former) {
    try {
      const state = await former.state(this.#abort.signal);
      if (VERDICTS.includes(state)) this.verdict = state;
    } catch (error) {
      // A server that was restarted, or has given the session up, does not know it.
      if ([0, 502, 503, 504].includes(error.status)) throw error;
    }
  }

  /** Idempotent. Nothing of the session is left: no connection, request, event source or timer. */
  close() {
    if (this.isClosed) return;
    this.#abort.abort();
    // Of a share that is over, and of who was removed, the server knows.
    if (!this.verdict) this.#resource?.delete();
    this.#events?.close();
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
    const connection = this.#connection;
    connection.ontrack = connection.onicecandidate = null;
    connection.oniceconnectionstatechange = connection.onconnectionstatechange = null;
    connection.close();
    this.#fault.resolve("gone");
  }

  /** One timer of each name. @param {string} name @param {number} ms @param {() => void} action */
  #after(name, ms, action) {
    this.#cancel(name);
    if (this.isClosed) return;
    this.#timers.set(name, setTimeout(() => {
      this.#timers.delete(name);
      action();
    }, ms));
  }

  #cancel(name) {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  #useServers(servers) {
    if (servers.length === 0) return;
    try {
      this.#connection.setConfiguration({ ...this.#connection.getConfiguration(), iceServers: servers });
    } catch {
      // A server that this browser does not understand is no reason to do without a direct path.
    }
  }

  // Connectivity

  #connected(patience) {
    const connection = this.#connection;
    return new Promise((resolve) => {
      const finish = (isUp) => {
        connection.removeEventListener("iceconnectionstatechange", look);
        this.#abort.signal.removeEventListener("abort", give);
        this.#cancel("connected");
        resolve(isUp);
      };
      const give = () => finish(false);
      const look = () => {
        if (this.#isConnected) finish(true);
        else if (connection.iceConnectionState === "failed") finish(false);
      };
      connection.addEventListener("iceconnectionstatechange", look);
      this.#abort.signal.addEventListener("abort", give);
      this.#after("connected", patience, give);
      if (this.isClosed) give();
      else if (this.#isConnected) finish(true);
    });
  }

  #iceStateChanged() {
    const state = this.#connection.iceConnectionState;
    if (state === "disconnected") this.#after("disconnected", DISCONNECTED_PATIENCE, () => this.#lose());
    else this.#cancel("disconnected");
    if (state === "failed") this.#lose();
  }

  /** DTLS that failed or was closed by the presenter cannot be mended by ICE. */
  #connectionStateChanged() {
    const dtls = this.#dtls?.state;
    const isOver = dtls === "closed" || dtls === "failed" || (this.#connection.connectionState === "failed" && this.#isConnected);
    // That the share ended, if so, is told by an event that may come a moment later.
    if (isOver) this.#after("over", 300, () => this.#fault.resolve("gone"));
  }

  // Trickling

  #take(candidate) {
    if (candidate === null) this.#gathered = true;
    else if (candidate.candidate === "") return; // the end of one generation of one section
    else if ((candidate.usernameFragment ?? attribute(this.#offer, "ice-ufrag")) !== attribute(this.#offer, "ice-ufrag")) return;
    else this.#candidates.push(candidate.candidate);
    if (!this.#timers.has("trickle")) this.#after("trickle", TRICKLE_PAUSE, () => this.#trickle());
  }

  #trickle() {
    const resource = this.#resource;
    const offer = this.#offer;
    const etag = resource?.etag;
    const body = fragment(offer, this.#candidates.splice(0), this.#gathered);
    this.#trickling = this.#trickling.then(async () => {
      // After an ICE restart, the credentials of the former offer would restart ICE again.
      if (this.isClosed || !resource || offer !== this.#offer) return;
      try {
        await resource.trickle(body, etag, this.#abort.signal);
      } catch (error) {
        if (offer !== this.#offer) return;
        // Without them the presenter may still be reached, as its own candidates are known here.
        const isRefusal = error instanceof Problem && [404, 410, 412, 422, 428].includes(error.status);
        if (isRefusal && !this.#isConnected) this.#fault.resolve("gone");
      }
    });
  }

  // Events of the share

  #listen() {
    if (this.isClosed || !this.#resource) return;
    this.#events?.close();
    const events = (this.#events = new EventSource(this.#resource.below("events")));
    events.addEventListener("state", ({ data }) => {
      let state;
      try {
        state = JSON.parse(data);
      } catch {
        return;
      }
      if (VERDICTS.includes(state.state)) {
        this.verdict = state.state;
        this.#fault.resolve("gone");
      }
      this.#isLive = state.state === "live" && state.tiles?.some((tile) => tile.state === "live") === true;
      this.#observer.state(state);
    });
    events.onerror = () => {
      if (events.readyState === EventSource.CLOSED) this.#after("events", EVENTS_PAUSE, () => this.#relisten());
    };
  }

  /** An event source gives up when it gets an error for an answer, and does not tell which. */
  async #relisten() {
    try {
      await this.#resource?.time(this.#abort.signal);
      this.#listen();
    } catch (error) {
      if (this.isClosed) return;
      if (error instanceof Problem && [404, 410].includes(error.status)) this.#fault.resolve("gone");
      else this.#after("events", EVENTS_PAUSE, () => this.#relisten());
    }
  }

  #patience(now) {
    if (now < this.#looked.wakingUntil) return SILENCE_AFTER_SLEEP;
    if (this.#events?.readyState !== EventSource.OPEN) return SILENCE_WITHOUT_EVENTS;
    // A viewer who receives no media receives only a consent check every five seconds.
    return this.#isLive ? SILENCE : Infinity;
  }

  async #listenForSilence() {
    let bytes = 0;
    for (const entry of (await this.#connection.getStats().catch(() => new Map())).values()) {
      if (entry.type === "candidate-pair") bytes += (entry.bytesReceived ?? 0) + (entry.responsesReceived ?? 0);
    }
    if (this.isClosed) return;
    const now = performance.now();
    const hasSlept = Date.now() - this.#looked.at > SLEPT;
    this.#looked = { at: Date.now(), wakingUntil: hasSlept ? now + WAKING : this.#looked.wakingUntil };
    if (hasSlept || bytes !== this.#heard.bytes) this.#heard = { bytes, at: now };
    if (now - this.#heard.at >= this.#patience(now)) this.#lose();
    this.#after("silence", SILENCE_STEP, () => this.#listenForSilence());
  }
}
