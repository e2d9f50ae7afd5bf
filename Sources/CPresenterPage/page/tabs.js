/**
 * Which of a browser's tabs follow the share. All tabs together have six connections to it, and each stream takes one. So
 * hidden tabs have no stream, except the one that was opened first: its title still shows who waits.
 */

const LOCK = "rtcshare.first";

let isFirst = !navigator.locks;

/** Whether this tab follows the share. */
export const isFollowing = () => isFirst || !document.hidden;

/** @param {() => void} changed this tab may follow it from now on, or no longer */
export function watchTabs(changed) {
  document.addEventListener("visibilitychange", changed);
  // Of the next tab when this one is closed.
  navigator.locks?.request(LOCK, () => {
    isFirst = true;
    changed();
    return new Promise(() => {});
  });
}
