/**
 * Where this page came from. The token is the link's fragment: browsers send that to nobody, and it stays there so that
 * a reload works. From here it goes into the Authorization header alone, never into a URL.
 */

/** @typedef {{ endpoint: URL, token: string }} Link */

/** @returns {Link} */
export function readLink() {
  // Relative to the page, which may lie under any path of a reverse proxy.
  return { endpoint: new URL("whep", document.baseURI), token: location.hash.slice(1) };
}
