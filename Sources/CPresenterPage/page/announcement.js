/** The sentences that screen readers announce when the share changes by itself. */

const PAUSE = 1000; // ms between two announcements: if the region changes faster, screen readers skip the first

/** @type {string[]} */
const sentences = [];
let timer = 0;

/** @param {string} sentence */
export function announce(sentence) {
  if (sentences.at(-1) === sentence) return;
  sentences.push(sentence);
  if (!timer) say();
}

function say() {
  const next = sentences.splice(0).join(" ");
  if (next) document.getElementById("announcement").textContent = next;
  timer = next ? setTimeout(say, PAUSE) : 0;
}
