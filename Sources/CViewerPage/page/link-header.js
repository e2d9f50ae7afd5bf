/**
 * Link headers (RFC 8288), as far as WHEP uses them: the ICE servers that a share has for its viewers.
 * `fetch` joins several header fields with commas, so one string may hold any number of links.
 */

/** @typedef {{ target: string, parameters: Map<string, string> }} WebLink */

const TARGET = /^<([^>]*)>/;
const PARAMETER = /^\s*;\s*(?:([^\s=;,"]+)\s*(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?)?/;

/**
 * What precedes the first error is taken: a bad link does not cost the good ones before it.
 * @param {string | null} header
 * @returns {WebLink[]}
 */
export function parseLinks(header) {
  let rest = header ?? "";
  const take = (pattern) => {
    const match = pattern.exec(rest);
    if (match) rest = rest.slice(match[0].length);
    return match;
  };
  const links = [];
  for (;;) {
    take(/^[\s,]+/);
    const target = take(TARGET);
    if (!target) return links;
    const parameters = new Map();
    for (let match; (match = take(PARAMETER)); ) {
      const [, name, quoted, bare] = match;
      if (!name) continue;
      const value = quoted?.replace(/\\(.)/g, "$1") ?? bare ?? "";
      // Of a parameter given twice the first counts (§3.3 says so of rel).
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value);
    }
    links.push({ target: target[1].trim(), parameters });
  }
}

/**
 * @param {string | null} header
 * @returns {RTCIceServer[]}
 */
export function iceServers(header) {
  return parseLinks(header)
    .filter(({ parameters }) => (parameters.get("rel") ?? "").toLowerCase().split(/\s+/).includes("ice-server"))
    .filter(({ target }) => /^(stun|turn)s?:/i.test(target))
    .map(({ target, parameters }) => {
      const username = parameters.get("username");
      const credential = parameters.get("credential");
      return username === undefined ? { urls: target } : { urls: target, username, credential: credential ?? "" };
    })
    // One TURN server without credentials would have RTCPeerConnection refuse all of them.
    .filter((server) => !/^turn/i.test(server.urls) || server.username !== undefined);
}
