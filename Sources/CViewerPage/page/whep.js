/** WHEP over HTTP (draft-ietf-wish-whep): one resource for each session. */

import { iceServers } from "./link-header.js";

/** @typedef {import("./link.js").Link} Link */

const PATIENCE = 10_000; // ms until an answer is given up; a server that is there takes a few hundred
/** After a change of network a browser may still ask over a connection from the one before, for as long as it is let. */
const RESTART_PATIENCE = 2500;
/** A new session waits for this answer. */
const STATE_PATIENCE = 2500;

/** Stands for a status if something answered that is not a share. */
export const NOT_A_SHARE = -3;

/** A refusal, with the server's own words if it has some (RFC 9457). Status 0: no answer. */
export class Problem extends Error {
  /**
   * @param {number} status
   * @param {{ type?: string, detail?: string, retryAfter?: number }} [more] retryAfter is in seconds
   */
  constructor(status, { type = "about:blank", detail = "", retryAfter } = {}) {
    super(detail || `status ${status}`);
    this.status = status;
    this.type = type;
    this.detail = detail;
    this.retryAfter = retryAfter;
  }
}

function retryAfter(response) {
  const value = response.headers.get("Retry-After");
  if (value === null) return undefined;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}

/**
 * @param {Link} link
 * @param {string | URL} url
 * @param {RequestInit & { headers?: Record<string, string>, patience?: number }} request
 * @returns {Promise<Response>} a response that is ok; all others are thrown as a Problem
 */
async function send(link, url, { patience = PATIENCE, ...request }) {
  const headers = { ...request.headers };
  if (link.token) headers.Authorization = `Bearer ${link.token}`;
  // AbortSignal.any would do, but is younger than some browsers that can show the picture.
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, patience);
  if (request.signal?.aborted) abort();
  request.signal?.addEventListener("abort", abort);
  let response;
  try {
    response = await fetch(url, { cache: "no-store", ...request, headers, signal: controller.signal });
  } catch {
    throw new Problem(0);
  } finally {
    clearTimeout(timer);
    request.signal?.removeEventListener("abort", abort);
  }
  if (response.ok) return response;
  const said = /\bjson\b/.test(response.headers.get("Content-Type") ?? "") ? await response.json().catch(() => ({})) : {};
  throw new Problem(response.status, { type: said?.type, detail: said?.detail, retryAfter: retryAfter(response) });
}

export class Resource {
  /** @param {Link} link @param {URL} url @param {string | null} etag @param {string} answer @param {RTCIceServer[]} servers */
  constructor(link, url, etag, answer, servers) {
    this.link = link;
    this.url = url;
    this.etag = etag;
    this.answer = answer;
    this.servers = servers;
  }

  /**
   * @param {Link} link
   * @param {string} offer
   * @param {AbortSignal} signal
   */
  static async create(link, offer, signal) {
    const headers = { "Content-Type": "application/sdp", Accept: "application/sdp" };
    const response = await send(link, link.endpoint, { method: "POST", body: offer, headers, signal });
    const answer = await response.text().catch(() => "");
    const location = response.headers.get("Location");
    if (!answer.startsWith("v=0") || !location) {
      throw new Problem(NOT_A_SHARE);
    }
    const url = new URL(location, response.url);
    return new Resource(link, url, response.headers.get("ETag"), answer, iceServers(response.headers.get("Link")));
  }

  /** @param {string} name of what lies below this resource */
  below(name) {
    const url = new URL(this.url);
    url.pathname = `${url.pathname.replace(/\/$/, "")}/${name}`;
    return url;
  }

  #patch(fragment, match, signal, patience = PATIENCE) {
    const headers = { "Content-Type": "application/trickle-ice-sdpfrag", "If-Match": match };
    return send(this.link, this.url, { method: "PATCH", body: fragment, headers, signal, patience });
  }

  /** @param {string} fragment @param {string | null | undefined} etag of its credentials @param {AbortSignal} signal */
  async trickle(fragment, etag, signal) {
    await this.#patch(fragment, etag ?? "*", signal);
  }

  /**
   * @param {string} fragment with new credentials
   * @param {AbortSignal} signal
   * @returns {Promise<string>} the server's fragment, with its own
   */
  async restart(fragment, signal) {
    const response = await this.#patch(fragment, '"*"', signal, RESTART_PATIENCE);
    const restarted = await response.text();
    // With the text: until then, candidates still belong to the former credentials.
    this.etag = response.headers.get("ETag") ?? this.etag;
    this.servers = iceServers(response.headers.get("Link"));
    return restarted;
  }

  /** @param {AbortSignal} signal @returns {Promise<string>} the share's state for this viewer, also after a removal */
  async state(signal) {
    const response = await send(this.link, this.below("state"), { signal, patience: STATE_PATIENCE });
    return (await response.json()).state;
  }

  /** @param {AbortSignal} signal @returns {Promise<number>} the sender's clock, ms since 1970 */
  async time(signal) {
    const response = await send(this.link, this.below("time"), { signal });
    return Number((await response.json()).now);
  }

  /** Outlives the page, which may be on its way out. */
  delete() {
    send(this.link, this.url, { method: "DELETE", keepalive: true }).catch(() => {});
  }
}
