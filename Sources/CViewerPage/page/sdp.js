/** The few things in SDP that trickling and ICE restarts need (RFC 8840, RFC 9725 §4.3). */

const lines = (sdp) => sdp.split(/\r?\n/).filter((line) => line !== "");

/**
 * The first value of an attribute.
 * @param {string} sdp
 * @param {string} name
 */
export function attribute(sdp, name) {
  const start = `a=${name}:`;
  return lines(sdp).find((line) => line.startsWith(start))?.slice(start.length);
}

/**
 * What is sent of a description's transport. All media share the first section's (max-bundle), so one section will do.
 * @param {string} offer
 * @param {string[]} candidates each begins with `candidate:`
 * @param {boolean} complete no further ones come
 */
export function fragment(offer, candidates, complete) {
  const group = lines(offer).find((line) => line.startsWith("a=group:BUNDLE"));
  const media = lines(offer).find((line) => line.startsWith("m="));
  return [
    group,
    media,
    `a=mid:${attribute(offer, "mid")}`,
    `a=ice-ufrag:${attribute(offer, "ice-ufrag")}`,
    `a=ice-pwd:${attribute(offer, "ice-pwd")}`,
    ...candidates.map((candidate) => `a=${candidate}`),
    complete ? "a=end-of-candidates" : undefined,
    "",
  ].filter((line) => line !== undefined).join("\r\n");
}

/**
 * The former answer with the transport that an ICE restart brought; undefined where the fragment names none.
 * @param {string} answer
 * @param {string} restarted a fragment
 */
export function withTransport(answer, restarted) {
  const ufrag = attribute(restarted, "ice-ufrag");
  const pwd = attribute(restarted, "ice-pwd");
  if (!ufrag || !pwd) return undefined;
  const isCandidate = (line) => /^a=(candidate:|end-of-candidates)/.test(line);
  const candidates = lines(restarted).filter(isCandidate);
  const kept = lines(answer)
    .filter((line) => !isCandidate(line))
    .map((line) => line.replace(/^a=ice-ufrag:.*/, `a=ice-ufrag:${ufrag}`).replace(/^a=ice-pwd:.*/, `a=ice-pwd:${pwd}`));
  const first = kept.findIndex((line) => line.startsWith("m="));
  const second = kept.findIndex((line, index) => index > first && line.startsWith("m="));
  kept.splice(second < 0 ? kept.length : second, 0, ...candidates);
  return kept.join("\r\n") + "\r\n";
}

/**
 * Chromium decodes Opus to one channel unless its own description asks for two (RFC 7587 §6.1).
 * @param {string} offer
 */
export function askForStereo(offer) {
  const opus = [...offer.matchAll(/^a=rtpmap:(\d+) opus\//gim)].map((match) => match[1]);
  return offer.replace(/^a=fmtp:(\d+) (?!.*\bstereo=)[^\r\n]*/gm, (line, type) =>
    opus.includes(type) ? `${line};stereo=1` : line);
}
