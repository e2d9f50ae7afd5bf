/**
 * Keeps a session going: an ICE restart where a connection broke, a new session where that does not help, with growing
 * pauses, until the share is over or the server says something that waiting does not change.
 */

import { NoPath, Session } from "./session.js";
import { Problem } from "./whep.js";

/**
 * @typedef {{ kind: "connecting", step: import("./session.js").Step }
 *   | { kind: "on" }
 *   | { kind: "lost", retryAt?: number }
 *   | { kind: "nopath", retryAt?: number }
 *   | { kind: "problem", problem: Problem, retryAt?: number }
 *   | { kind: "ended" } | { kind: "removed" } | { kind: "declined" }} Situation retryAt: ms, of performance.now(); absent while trying
 */

const FIRST_PAUSE = 0.5; // seconds
const LAST_PAUSE = 10;
/** A presenter whose machine slept or changed its network can be back at any moment, and is seen again within three seconds. */
const LOST_PAUSE = 1;
/** A server that refuses does not change its mind within half a second. */
const REFUSED_PAUSE = 3;
/** A server keeps the session of a viewer that it does not hear about as long; later an ICE restart is a wasted request. */
const MENDING = 30_000;
/** A service that is restarted has the same link. It ends its share as usual, and is there again within this time. */
const RETURN = 60_000;
const RETURN_PAUSE = 2; // seconds
/** Who was connected for so long begins with short pauses again. */
const STEADY = 10_000;

/** Statuses that another try without anybody's doing does not change. */
const FINAL = new Set([400, 401, 405, 406, 413, 415]);

/** @param {number} tries @param {number} last */
function pause(tries, last) {
  // Jitter: all viewers lose a presenter at the same moment, and would come back at the same moment.
  return Math.min(last, FIRST_PAUSE * 2 ** tries) * (1 + Math.random() / 2);
}

export class Watch {
  #link;
  #observer;
  #session;
  #tries = 0;
  #running = 0;
  #wake;
  #wasOn = false;
  #shown;

  /**
   * @param {import("./link.js").Link} link
   * @param {Omit<import("./session.js").SessionObserver, "step"> & { situation: (situation: Situation) => void }} observer
   */
  constructor(link, observer) {
    this.#link = link;
    this.#observer = observer;
    addEventListener("online", () => this.#networkChanged());
    // A phone that changes from one network to another is online all the time. The event is also that of a new estimate.
    const network = navigator.connection;
    let type = network?.type;
    network?.addEventListener?.("change", () => {
      if (network.type !== type) this.#networkChanged();
      type = network.type;
    });
    document.addEventListener("visibilitychange", () => document.hidden || this.#wake?.());
  }

  get session() {
    return this.#session;
  }

  start() {
    this.stop();
    this.#tries = 0;
    this.#run(++this.#running);
  }

  stop() {
    this.#running++;
    this.#session?.close();
    this.#session = undefined;
    this.#wake?.();
  }

  /** Does at once what is being waited for. */
  hurry() {
    this.#wake?.();
  }

  #networkChanged() {
    this.#wake?.();
    this.#session?.doubt();
  }

  async #run(run) {
    const isOver = () => run !== this.#running;
    /** The time of the last attempt to join a share that has ended, ms of performance.now(). */
    let lastReturn = 0;
    /** The former session, until its state is known. @type {import("./whep.js").Resource | undefined} */
    let former;
    while (!isOver()) {
      const session = (this.#session = new Session(this.#link, {
        step: (step) => isOver() || this.#connecting(step),
        track: (...told) => isOver() || this.#observer.track(...told),
        state: (state) => isOver() || this.#observer.state(state),
      }));
      let situation;
      try {
        if (former) await session.learnVerdict(former);
        former = undefined;
        if (!session.verdict) {
          // A session may end before it is connected: the share is over, the viewer was sent away.
          const opening = session.open();
          opening.catch(() => {});
          const fault = await Promise.race([opening, session.broken()]);
          situation = fault ? this.#failed(new Problem(0)) : await this.#hold(session, isOver);
        }
      } catch (error) {
        situation = this.#failed(error);
      }
      session.close();
      if (isOver()) return;
      former = session.resource ?? former;
      const { status, type, retryAfter = 0 } = situation?.kind === "problem" ? situation.problem : { status: 0 };
      // A server that is about to end refuses new sessions, as does one that has just removed the viewer.
      const refusal = type === "urn:rtcshare:removed" ? "removed" : "ended";
      const verdict = status === 410 ? refusal : session.verdict;
      if (verdict === "ended" && this.#shown !== "ended") lastReturn = performance.now() + RETURN;
      if (verdict) this.#show({ kind: verdict });
      if (verdict && verdict !== "ended") return;
      if (this.#shown === "ended") {
        // Another share at the same address refuses this link. One that has not started yet answers 409.
        const isRefused = status >= 400 && status < 500 && ![409, 410, 429].includes(status);
        if (isRefused || performance.now() >= lastReturn) return;
        const least = performance.now() + retryAfter * 1000;
        await this.#wait(Math.max(RETURN_PAUSE * (1 + Math.random() / 2), retryAfter), least);
        continue;
      }
      if (!situation) continue;
      if (situation.kind === "problem" && FINAL.has(situation.problem.status)) return this.#show(situation);
      await this.#rest(situation);
    }
  }

  #connecting(step) {
    // What hinders is told until it hinders no more, not of each step of each try; so it is with a connection that is gone.
    const isHindered = ["nopath", "ended"].includes(this.#shown) || (this.#shown === "problem" && step === "asking");
    if (!this.#wasOn && !isHindered) this.#show({ kind: "connecting", step });
  }

  #show(situation) {
    this.#shown = situation.kind;
    this.#observer.situation(situation);
  }

  #failed(error) {
    if (error instanceof NoPath) return { kind: "nopath" };
    if (!(error instanceof Problem)) return { kind: "problem", problem: new Problem(-1, { detail: String(error) }) };
    // A reverse proxy answers for a presenter that is away.
    const isAway = [0, 502, 504].includes(error.status);
    return isAway && this.#wasOn ? { kind: "lost" } : { kind: "problem", problem: error };
  }

  /**
   * From connected to beyond mending. Undefined: a new session is asked for at once.
   * @param {Session} session
   * @param {() => boolean} isOver
   * @returns {Promise<Situation | undefined>}
   */
  async #hold(session, isOver) {
    while (!isOver()) {
      const since = performance.now();
      this.#wasOn = true;
      this.#show({ kind: "on" });
      const fault = await session.broken();
      if (isOver() || session.verdict) return undefined;
      const wasSteady = performance.now() - since > STEADY;
      if (wasSteady) this.#tries = 0;
      this.#show({ kind: "lost" });
      const tries = this.#tries;
      if (fault === "lost" && (await this.#mend(session, isOver))) continue;
      // Sessions that break as soon as they are up are asked for with pauses too.
      return wasSteady || this.#tries > tries ? undefined : { kind: "lost" };
    }
    return undefined;
  }

  async #mend(session, isOver) {
    const until = performance.now() + MENDING;
    while (!isOver() && performance.now() < until) {
      try {
        if (!(await session.restart())) return false;
        session.mended();
        return true;
      } catch (error) {
        if (!(error instanceof Problem) || error.status !== 0) return false;
      }
      let isBack = false;
      session.onceConnected(() => {
        isBack = true;
        this.#wake?.();
      });
      await this.#rest({ kind: "lost" });
      if (session.isClosed) return false;
      if (isBack) {
        session.mended();
        return true;
      }
    }
    return false;
  }

  async #rest(situation) {
    const asked = situation.kind === "problem" ? situation.problem.retryAfter : undefined;
    const isRefused = situation.kind === "problem" && situation.problem.status >= 400;
    // Nobody waits for a page that is not seen, which asks at once when it is.
    const last = situation.kind === "lost" && !document.hidden ? LOST_PAUSE : LAST_PAUSE;
    const seconds = Math.max(pause(this.#tries, last), asked ?? (isRefused ? REFUSED_PAUSE : 0));
    this.#tries++;
    this.#show({ ...situation, retryAt: performance.now() + seconds * 1000 });
    // A server's Retry-After is kept whatever happens here, unless nobody waits any more.
    await this.#wait(seconds, asked ? performance.now() + asked * 1000 : 0);
    this.#show(this.#wasOn ? { kind: "lost" } : { ...situation, retryAt: undefined });
  }

  /** @param {number} seconds @param {number} [earliest] ms of performance.now(), before which nothing ends the wait but a stop */
  async #wait(seconds, earliest = 0) {
    await new Promise((resolve) => {
      const finish = () => {
        clearTimeout(timer);
        this.#wake = undefined;
        resolve(undefined);
      };
      const timer = setTimeout(finish, seconds * 1000);
      const run = this.#running;
      this.#wake = () => (run !== this.#running || performance.now() >= earliest) && finish();
    });
  }
}
