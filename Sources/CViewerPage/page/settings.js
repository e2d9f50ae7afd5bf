/** What this browser remembers of the page, by name. A browser that blocks storage throws: settings then last as long as the page. */

/** @param {string} name @returns {string | null} */
export function recall(name) {
  try {
    return localStorage.getItem(`rtcshare.${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string} value empty: forgotten */
export function remember(name, value) {
  try {
    if (value) localStorage.setItem(`rtcshare.${name}`, value);
    else localStorage.removeItem(`rtcshare.${name}`);
  } catch {
    // Nothing to do: the setting lasts as long as the page.
  }
}
