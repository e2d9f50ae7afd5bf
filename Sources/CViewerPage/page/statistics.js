/** What the panel shows, from getStats() and the sender's clock. */

const NTP_EPOCH = 2_208_988_800_000; // ms from 1900 to 1970
const CLOCK_PROBES = 5;

/** ms since 1970, steadier than Date.now() */
export const unixNow = () => performance.timeOrigin + performance.now();

/**
 * How far the sender's clock is ahead of this one, by the quickest of a few requests: the less time one took,
 * the less its two ways can differ.
 * @param {() => Promise<number>} ask for the sender's clock
 * @returns {Promise<{ ahead: number, roundTrip: number } | undefined>} ms
 */
export async function compareClocks(ask) {
  let best;
  for (let probe = 0; probe < CLOCK_PROBES; probe++) {
    const before = unixNow();
    const theirs = await ask();
    const roundTrip = unixNow() - before;
    if (Number.isFinite(theirs) && (!best || roundTrip < best.roundTrip)) best = { ahead: theirs - before - roundTrip / 2, roundTrip };
  }
  return best;
}

/**
 * @typedef {object} Sample
 * @property {number} [framesPerSecond]
 * @property {number} [kilobits] a second, of all media
 * @property {number} [loss] of the last second's packets, from 0 to 1
 * @property {number} [roundTrip] ms
 * @property {{ isRelayed: boolean, protocol: string }} [path]
 * @property {string} [codec] of the picture, as people write it
 * @property {{ ms: number, isEstimate: boolean }} [age] of the picture
 */

/** @typedef {{ at: number, bytes: number, frames: number, packets: number, lost: number, waited: number, emitted: number }} Counters */

export class Statistics {
  #before;
  #connection;
  #track;

  /** @param {RTCPeerConnection} connection @param {MediaStreamTrack | undefined} track of the picture */
  constructor(connection, track) {
    this.#connection = connection;
    this.#track = track;
  }

  get connection() {
    return this.#connection;
  }

  /**
   * Rates are those since the last call.
   * @param {{ ahead: number, roundTrip: number } | undefined} clock
   * @returns {Promise<Sample>}
   */
  async sample(clock) {
    const report = await this.#connection.getStats();
    const entries = [...report.values()];
    const inbound = entries.filter(({ type }) => type === "inbound-rtp");
    const video = inbound.find(({ trackIdentifier }) => trackIdentifier === this.#track?.id) ?? inbound.find(({ kind }) => kind === "video");
    const sum = (name) => inbound.reduce((total, entry) => total + (entry[name] ?? 0), 0);
    const now = {
      at: performance.now(),
      bytes: sum("bytesReceived") + sum("headerBytesReceived"),
      packets: sum("packetsReceived"),
      lost: sum("packetsLost"),
      frames: video?.framesDecoded ?? 0,
      waited: video?.jitterBufferDelay ?? 0,
      emitted: video?.jitterBufferEmittedCount ?? 0,
    };
    const pair = selectedPair(report, entries);
    const measured = pair?.currentRoundTripTime ?? entries.find(({ type }) => type === "remote-outbound-rtp")?.roundTripTime;
    const roundTrip = measured === undefined ? clock?.roundTrip : measured * 1000;
    const codec = nameOf(report.get(video?.codecId)?.mimeType);
    const sample = { roundTrip, codec, path: pathOf(report, pair), age: age(video, now, this.#before, clock, roundTrip), ...rates(now, this.#before) };
    this.#before = now;
    return sample;
  }
}

function rates(now, before) {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  if (!before || seconds <= 0) return {};
  const lost = Math.max(0, now.lost - before.lost);
  const all = now.packets - before.packets + lost;
  return {
    framesPerSecond: (now.frames - before.frames) / seconds,
    kilobits: Math.max(0, now.bytes - before.bytes) * 8 / 1000 / seconds,
    loss: all > 0 ? lost / all : 0,
  };
}

/** @param {string | undefined} type of media, such as video/H264 */
function nameOf(type) {
  const name = type?.split("/")[1]?.toUpperCase();
  return name === "H264" ? "H.264" : name;
}

function selectedPair(report, entries) {
  const chosen = entries.find(({ type, selectedCandidatePairId }) => type === "transport" && selectedCandidatePairId);
  if (chosen) return report.get(chosen.selectedCandidatePairId);
  return entries.find(({ type, selected, nominated, state }) => type === "candidate-pair" && (selected ?? (nominated && state === "succeeded")));
}

function pathOf(report, pair) {
  if (!pair) return undefined;
  const ours = report.get(pair.localCandidateId);
  const theirs = report.get(pair.remoteCandidateId);
  const relay = [ours, theirs].find((candidate) => candidate?.candidateType === "relay");
  return { isRelayed: relay !== undefined, protocol: (relay?.relayProtocol ?? ours?.protocol ?? "").toUpperCase() };
}

/**
 * From the sender's clock where the browser tells which of its moments is on show; else from the delays that are known,
 * which leave out capturing and encoding.
 * @param {any} video @param {Counters} now @param {Counters | undefined} before
 * @param {{ ahead: number } | undefined} clock @param {number | undefined} roundTrip
 */
function age(video, now, before, clock, roundTrip) {
  const playout = video?.estimatedPlayoutTimestamp;
  if (clock && playout) {
    // The specification counts from 1900; a browser that counts from 1970 is told by the size of the number.
    const shown = playout > NTP_EPOCH ? playout - NTP_EPOCH : playout;
    const ms = unixNow() + clock.ahead - shown;
    if (ms > -1000 && ms < 600_000) return { ms: Math.max(0, ms), isEstimate: false };
  }
  const emitted = now.emitted - (before?.emitted ?? 0);
  if (roundTrip === undefined || emitted <= 0) return undefined;
  return { ms: (now.waited - (before?.waited ?? 0)) / emitted * 1000 + roundTrip / 2, isEstimate: true };
}
