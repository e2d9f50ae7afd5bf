/** The title, text and advice for each state: plain sentences, for people who have never heard of WebRTC. */

import { text } from "./language.js";
import { NOT_A_SHARE } from "./whep.js";

/** @typedef {import("./watch.js").Situation} Situation */
/** @typedef {import("./session.js").ShareState} ShareState */

/**
 * @typedef {object} Words
 * @property {string} state for the style sheet
 * @property {string} title
 * @property {string} [text]
 * @property {string} [hint]
 * @property {string} [code] as it is, in any language: what the presenter can type, or what went wrong
 * @property {boolean} [canRetry]
 * @property {boolean} [keepsPicture] the last picture is still shown, with the notice above it
 */

/**
 * @param {Situation} situation
 * @param {ShareState | undefined} share
 * @param {{ hasPicture: boolean, isBlocked: boolean, isSlow: boolean, hasToken: boolean, isOffline: boolean }} facts
 * @returns {Words | undefined} undefined while the video needs no words
 */
export function describe(situation, share, { hasPicture, isBlocked, isSlow, hasToken, isOffline }) {
  const name = share?.name || text("presenter");
  switch (situation.kind) {
    case "connecting":
      return connecting(isSlow ? situation.step : undefined);
    case "on":
      if (share?.state === "waiting") return { state: "waiting", title: text("waiting.title"), text: text("waiting.text", { name }) };
      if (!hasPicture && showsNothing(share)) return { state: "nothing", title: text("nothing.title"), text: text("nothing.text", { name }) };
      if (isBlocked) return { ...simple("blocked", "blocked"), keepsPicture: true };
      if (share?.state === "paused") {
        return { state: "paused", title: text("paused.title"), text: text(hasPicture ? "paused.still" : "paused.empty"), keepsPicture: true };
      }
      return hasPicture ? undefined : connecting(isSlow ? "picture" : undefined);
    case "lost":
      return { ...(isOffline ? simple("lost", "offline") : simple("lost", "lost")), keepsPicture: true, canRetry: true };
    case "nopath":
      return { ...simple("nopath", "nopath"), hint: text("nopath.hint"), code: "rtcshare serve \\\n  --ice-server 'turn:HOST?transport=tcp'", canRetry: true };
    case "ended":
      return ended(name);
    case "removed":
    case "declined":
      return simple(situation.kind, situation.kind);
    case "problem":
      return problem(situation.problem, hasToken, name);
  }
}

/** @param {string} state @param {string} key of the texts */
const simple = (state, key) => ({ state, title: text(`${key}.title`), text: text(`${key}.text`) });

/** @param {import("./session.js").Step | undefined} step that takes long */
const connecting = (step) => ({ state: "connecting", title: text("connecting.title"), text: step && text(`connecting.${step}`) });

/** Whether everything that this viewer could see is off: shared with others, or not at all. @param {ShareState | undefined} share */
const showsNothing = (share) => Boolean(share?.tiles?.length) && share.tiles.every(({ state }) => state === "off");

const ended = (name) => ({ state: "ended", title: text("ended.title"), text: text("ended.text", { name }) });

/**
 * @param {import("./whep.js").Problem} problem
 * @param {boolean} hasToken
 * @param {string} name
 * @returns {Words}
 */
function problem({ status, type, detail }, hasToken, name) {
  switch (status) {
    case 0: case 502: case 504:
      return { ...simple("unreachable", "unreachable"), canRetry: true };
    case 401:
      return simple("refused", hasToken ? "invalid" : "incomplete");
    case 403:
      if (type === "urn:rtcshare:locked") return { ...simple("locked", "locked"), code: "rtcshare unlock", canRetry: true };
      if (type === "urn:rtcshare:foreign") {
        const address = new URL(".", document.baseURI).href;
        return { ...simple("refused", "foreign"), code: `rtcshare serve \\\n  --public-url ${address}`, canRetry: true };
      }
      break;
    case 406:
      return { state: "unable", title: text("unable.title"), text: text("unable.codec") };
    case 409:
      return { ...simple("early", "early"), canRetry: true };
    case 429:
      return { state: "busy", title: text("busy.title"), text: text("busy.attempts") };
    case 503:
      if (type === "urn:rtcshare:full") return { ...simple("full", "full"), canRetry: true };
      if (type === "urn:rtcshare:crowded") return { state: "busy", title: text("busy.title"), text: text("busy.crowded"), canRetry: true };
      break;
    case NO_WEBRTC:
      return { state: "unable", title: text("unable.title"), text: text("unable.webrtc") };
    case NOT_A_SHARE:
      return { ...simple("refused", "elsewhere"), canRetry: true };
  }
  const code = [status > 0 && `HTTP ${status}`, detail].filter(Boolean).join(": ");
  return { ...simple("unreachable", "failed"), code, canRetry: true };
}

/** Stands for a status if the browser itself is the obstacle. */
export const NO_WEBRTC = -2;
