/** Whether people on the internet can watch. The router is asked only after a click. */

import { announce } from "./announcement.js";
import { UNLIMITED, request } from "./api.js";
import { text } from "./language.js";
import { mark, put } from "./list.js";
import { sentence } from "./words.js";

/** @param {HTMLElement} place with the button, and a paragraph for the result */
export function examineRouter(place) {
  const button = place.querySelector("button");
  const result = place.querySelector("p");
  const show = (words, language) => {
    mark(result, "lang", language);
    put(result, words);
  };
  let isAsking = false;
  button.addEventListener("click", async () => {
    if (isAsking) return;
    isAsking = true;
    show(text("router.wait"), text("language"));
    try {
      const { forwards, problem, remedy } = await (await request("GET", "v1/router", undefined, UNLIMITED)).json();
      if (forwards) show(text("router.works"), text("language"));
      else show([problem, remedy].filter(Boolean).map(sentence).join(" "), "en");
    } catch {
      // The events tell whether the program is there.
      show("", text("language"));
    }
    isAsking = false;
    announce(result.textContent);
  });
}
