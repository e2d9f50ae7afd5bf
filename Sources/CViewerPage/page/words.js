/** What a state is called, what it means and what one can do: plain sentences, for somebody who has never heard of WebRTC. */

/** @typedef {import("./watch.js").Situation} Situation */
/** @typedef {import("./session.js").ShareState} ShareState */

/**
 * @typedef {object} Words
 * @property {string} state for the style sheet
 * @property {string} short for the title
 * @property {string} title
 * @property {string} [text]
 * @property {string} [hint]
 * @property {string} [command] what the presenter may type
 * @property {boolean} [canRetry]
 * @property {boolean} [keepsPicture] the last picture is still shown, with the notice above it
 */

const STEPS = {
  asking: "Asking the presenter’s computer for the picture. It has not answered yet.",
  paths: "The presenter answered. Looking for a way for the picture: directly first, then through a relay if there is one.",
  picture: "Connected. Waiting for the first picture.",
};

/**
 * @param {Situation} situation
 * @param {ShareState | undefined} share
 * @param {{ hasPicture: boolean, isSlow: boolean, hasToken: boolean, isOffline: boolean }} facts
 * @returns {Words | undefined} nothing, where the picture says it all
 */
export function describe(situation, share, { hasPicture, isSlow, hasToken, isOffline }) {
  const name = share?.name || "The presenter";
  switch (situation.kind) {
    case "connecting":
      return { state: "connecting", short: "connecting", title: "Connecting", text: isSlow ? STEPS[situation.step] : undefined };
    case "on":
      if (share?.state === "waiting") return waiting(name);
      if (!hasPicture && showsNothing(share)) return nothing(name);
      if (share?.state === "paused") return paused(name, hasPicture);
      if (hasPicture) return undefined;
      return { state: "connecting", short: "connecting", title: "Connecting", text: isSlow ? STEPS.picture : undefined };
    case "lost":
      if (isOffline) {
        return { state: "lost", short: "offline", title: "You are offline", keepsPicture: true, canRetry: true,
          text: "The picture continues by itself when your network is back." };
      }
      return { state: "lost", short: "connection lost", title: `${name}’s connection is gone`,
        text: "The picture continues by itself when it is back; no need to reload.", keepsPicture: true, canRetry: true };
    case "nopath":
      return { state: "nopath", short: "no path", title: "No way through to the presenter", canRetry: true,
        text: "This page got here, but a firewall or a router keeps the picture from following. It keeps trying.",
        hint: "Join the presenter’s network, or ask them to share through a relay:",
        command: "rtcshare serve \\\n  --ice-server turn:HOST" };
    case "ended":
      return ended(name);
    case "removed":
      return { state: "removed", short: "removed", title: "You are no longer watching",
        text: "The presenter removed this viewer. If that was a mistake, ask them, and open the link again." };
    case "problem":
      return problem(situation.problem, hasToken, name);
  }
}

const waiting = (name) => ({
  state: "waiting", short: "waiting to be let in", title: "Waiting to be let in",
  text: `${name} has been asked. Leave this page open: the picture appears as soon as you are let in.`,
});

const paused = (name, hasPicture) => ({
  state: "paused", short: "paused", title: "Paused", keepsPicture: true,
  text: hasPicture ? "This is the last picture. It continues by itself." : `The picture appears by itself when ${inside(name)} resumes.`,
});

/** Whether all that this viewer could see is off: shared to others, or not at all. @param {ShareState | undefined} share */
const showsNothing = (share) => Boolean(share?.tiles?.length) && share.tiles.every(({ state }) => state === "off");

const nothing = (name) => ({
  state: "nothing", short: "nothing to see", title: "Nothing to see now",
  text: `${name} is not showing you anything at this moment. The picture appears here by itself.`,
});

const ended = (name) => ({
  state: "ended", short: "ended", title: "The share has ended", text: `${name} stopped sharing. You can close this page.`,
});

/** Within a sentence. @param {string} name */
const inside = (name) => (name === "The presenter" ? "the presenter" : name);

/**
 * @param {import("./whep.js").Problem} problem
 * @param {boolean} hasToken
 * @param {string} name
 * @returns {Words}
 */
function problem({ status, type, detail }, hasToken, name) {
  switch (status) {
    case 0: case 502: case 504:
      return { state: "unreachable", short: "no answer", title: "The presenter’s computer does not answer", canRetry: true,
        text: "It may be asleep, on another network, or no longer sharing. This page keeps trying." };
    case 401:
      return hasToken
        ? { state: "refused", short: "link not valid", title: "This link is no longer valid",
          text: "Each share has a link of its own. Ask the presenter for the present one." }
        : { state: "refused", short: "link incomplete", title: "This link is incomplete",
          text: "What follows the # is missing. Copy the whole link, and open it again." };
    case 403:
      return { state: "locked", short: "locked", title: "Nobody else is let in now", canRetry: true,
        text: "The presenter has locked the share. Ask them to unlock it; this page then joins by itself.",
        command: type === "urn:rtcshare:locked" ? "rtcshare unlock" : undefined };
    case 406:
      return { state: "unable", short: "cannot be shown", title: "This browser cannot show the picture",
        text: "It lacks the video format VP8. Open the link in a current Firefox, Chrome, Edge or Safari." };
    case 409:
      return { state: "early", short: "not yet", title: "Not sharing yet", canRetry: true,
        text: "The picture starts here by itself. Leave this page open." };
    case 410:
      return ended(name);
    case 429:
      return { state: "busy", short: "asked to wait", title: "A short wait",
        text: "There were too many attempts. This page continues by itself." };
    case 503:
      if (type === "urn:rtcshare:full") {
        return { state: "full", short: "full", title: "All places are taken", canRetry: true,
          text: "As many people are watching as the presenter allows. This page joins by itself when somebody leaves." };
      }
      if (type === "urn:rtcshare:crowded") {
        return { state: "busy", short: "asked to wait", title: "A short wait",
          text: "Many people are joining at this moment. This page joins by itself." };
      }
      break;
    case NO_WEBRTC:
      return { state: "unable", short: "cannot be shown", title: "This browser cannot show the picture",
        text: "WebRTC is missing or switched off in it. Open the link in a current Firefox, Chrome, Edge or Safari." };
  }
  return { state: "unreachable", short: "trouble", title: "That did not work", canRetry: true,
    text: `${detail ? `${detail} ` : ""}This page keeps trying.` };
}

/** Stands for a status where the browser itself is the obstacle. */
export const NO_WEBRTC = -2;
