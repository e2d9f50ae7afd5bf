/** Requests to the share. Each carries the secret of this page, from the fragment of its link. */

const SECRET = "rtcshare.presenter.secret";

const secret = take();

/** Moves the secret out of the address bar, which may be on the shared screen. */
function take() {
  const given = location.hash.slice(1);
  if (given) history.replaceState(history.state, "", location.pathname + location.search);
  try {
    if (given) sessionStorage.setItem(SECRET, given);
    return given || (sessionStorage.getItem(SECRET) ?? "");
  } catch {
    // A browser that blocks storage loses the secret when the page is reloaded.
    return given;
  }
}

/** Requests are answered at once. One that is not must not leave the page without a word. */
const LIMIT = 15_000; // ms

/** For a request during which a person chooses something in a dialog of the desktop. */
export const UNLIMITED = new AbortController().signal;

/** The status of a request that was not answered in time. */
export const LATE = 408;

/** The reason why a request failed, in the words of the share (RFC 9457). */
export class Problem extends Error {
  /** @param {number} status 0: there was no answer @param {{ detail?: string, list?: string[], remedy?: string }} [words] */
  constructor(status, { detail = "", list = [], remedy } = {}) {
    super(detail);
    this.status = status;
    this.list = list;
    this.remedy = remedy;
  }
}

/**
 * @param {string} method @param {string} path @param {object} [body] @param {AbortSignal} [signal]
 * @returns {Promise<Response>} of the 2xx statuses
 * @throws {Problem}
 */
export async function request(method, path, body, signal = AbortSignal.timeout(LIMIT)) {
  const headers = { Authorization: `Bearer ${secret}` };
  if (body) headers["Content-Type"] = "application/json";
  let response;
  try {
    response = await fetch(path, { method, headers, body: body && JSON.stringify(body), signal, cache: "no-store" });
  } catch ({ name }) {
    throw new Problem(name === "TimeoutError" ? LATE : 0);
  }
  if (!response.ok) throw new Problem(response.status, await response.json().catch(() => ({})));
  return response;
}

/** @param {string} path */
export const get = async (path) => (await request("GET", path)).json();
