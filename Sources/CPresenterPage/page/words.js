/** The words for each state: plain sentences, for people who have never heard of WebRTC. */

import { number, text } from "./language.js";

/** @param {number} kilobits a second */
export function rate(kilobits) {
  if (kilobits < 995) return text("rate.value", { kilobits: number(round(kilobits, 2)) });
  return text("rate.mega", { megabits: number(round(kilobits / 1000, 2)) });
}

/** Coarse on purpose: figures that change with each measurement would change the shared screen. */
function round(value, digits) {
  return Number(value.toPrecision(digits));
}

/** @param {number} seconds */
export function milliseconds(seconds) {
  const value = seconds < 0.1 ? Math.round(seconds * 1000) : round(seconds * 1000, 2);
  return number(value, { style: "unit", unit: "millisecond" });
}

/** @param {number} fraction */
export const percent = (fraction) => number(fraction, { style: "percent", maximumFractionDigits: fraction < 0.095 ? 1 : 0 });

/** @param {number} count */
const seconds = (count) => number(Math.round(count), { style: "unit", unit: "second", unitDisplay: "long" });

/** @param {Date} date */
export const clock = (date) => new Intl.DateTimeFormat(text("language"), { hour: "numeric", minute: "2-digit" }).format(date);

/** The title and text of a state. @param {object} share */
export function headline(share) {
  const watching = share.viewers.filter(isWatching).length;
  if (share.interruption) return { title: text("interrupted"), text: sentence(share.interruption), isForeign: true };
  if (share.state === "paused") return { title: text("state.paused"), text: text(share.isSlateShown ? "state.paused.slate" : "state.paused.still") };
  if (watching > 0) return { title: text("state.sharing", { count: watching }), text: "" };
  return { title: text("state.waiting"), text: waiting(share) };
}

function waiting({ isLocked, viewers }) {
  if (viewers.some(({ isWaiting }) => isWaiting)) return text("state.waiting.admit");
  if (isLocked === undefined) return text("state.waiting.invite");
  return isLocked ? text("state.waiting.locked") : text("state.waiting.text");
}

/** The size of the video, and the start of the share. @param {object} share @param {Date} start */
export function facts(share, start) {
  const size = share.width ? `${number(share.width, { useGrouping: false })} × ${number(share.height, { useGrouping: false })}` : "";
  return [size, text("state.since", { time: clock(start) }), share.isLocked && share.viewers.some(isWatching) && text("state.locked")].filter(Boolean).join(" · ");
}

/** @param {object} viewer */
export const isWatching = ({ isWaiting, state }) => !isWaiting && (state === "connected" || state === "disconnected");

/** @param {object} viewer */
export const nameOf = ({ id }) => text("viewer.name", { id: String(id) });

/** The condition of a viewer's connection, in a sentence. @param {object} viewer */
export function condition(viewer) {
  if (viewer.state === "new") return text("viewer.new");
  if (viewer.state === "connecting") return text("viewer.connecting");
  switch (viewer.state === "disconnected" ? "silent" : viewer.trouble) {
    case "silent":
      return text("trouble.silent");
    case "lossy":
      return text("trouble.lossy", { percent: percent(viewer.troubleFigure ?? 0) });
    case "slow":
      return text("trouble.slow", { rate: rate(viewer.troubleFigure ?? 0) });
    case "late":
      return text("trouble.late", { time: milliseconds(viewer.troubleFigure ?? 0) });
    case "stuck":
      return text("trouble.stuck", { time: seconds(viewer.troubleFigure ?? 0) });
    default:
      return text("viewer.good");
  }
}

const PATHS = { direct: () => text("path.direct"), tcp: () => text("path.tcp"), relayed: () => text("path.relayed") };

/** The figures of a viewer or a server. @param {object} viewer */
export function figures({ state, path, roundTripTime, fractionLost, bitrate, codec }) {
  if (state !== "connected" && state !== "published") return "";
  return [
    path && PATHS[path](),
    roundTripTime !== undefined && text("figure.roundTrip", { time: milliseconds(roundTripTime) }),
    fractionLost !== undefined && text("figure.loss", { percent: percent(fractionLost) }),
    bitrate !== undefined && rate(bitrate),
    codec,
  ].filter(Boolean).join(" · ");
}

/** The state of a publication, in a sentence. @param {object} server */
export function publication(server) {
  const states = {
    connecting: () => text("server.connecting"), published: () => text("server.published"), disconnected: () => text("trouble.silent"),
    waiting: () => text("server.waiting"), failed: () => text("server.failed"), ended: () => text("server.ended"),
  };
  return states[server.state]();
}

/** A reason in the words of the program, as a sentence. @param {string} [reason] */
export const sentence = (reason = "") => reason && reason[0].toUpperCase() + reason.slice(1) + (/[.!?:]$/.test(reason) ? "" : ".");

/** Why a share has ended: the title says that it has. @param {string} [reason] */
export const endOf = (reason = "") => sentence(reason.replace(/^The share has (stopped\.|ended: )\n?/, ""));

/** The name of a source that was not chosen on this page. @param {string} spec */
export function sourceName(spec) {
  const [, kind, place] = /^([^:]*):?(.*)$/s.exec(spec);
  switch (kind) {
    case "display":
      return place || text("picker.screen");
    case "region":
      return `${text("picker.region")}, ${place.split("+")[0].replace("x", " × ")}`;
    case "window":
      return place.startsWith("title=") ? place.slice(6) : text("source.window");
    case "camera":
      return place || text("camera");
    case "portal":
      return text("source.portal");
    default:
      return spec;
  }
}

/** Whether a remedy is the choice of another source. @param {string} command */
export const choosesSource = (command) => /^rtcshare switch SPEC( --name \S+)?$/.test(command);

/** Whether a remedy only shows more in a terminal: this page shows the share, and its choices. @param {string} command */
export const isInTerminal = (command) => /^rtcshare (status|help)\b/.test(command);

/** Whether a message asks the presenter to do something. @param {{ text: string, remedy?: string }} message */
export const isWarning = ({ text, remedy }) => Boolean(remedy) || text.startsWith("Warning: ");
