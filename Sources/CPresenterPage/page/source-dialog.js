/** The dialog that chooses another source during a share. */

import { find } from "./list.js";

export class SourceDialog {
  #dialog = find("source-dialog");
  #sources;
  #picker;

  /** @param {import("./sources.js").Sources} sources @param {import("./picker.js").Picker} picker @param {(spec: string) => void} choose */
  constructor(sources, picker, choose) {
    this.#sources = sources;
    this.#picker = picker;
    this.#dialog.addEventListener("close", () => {
      const spec = this.#dialog.returnValue === "switch" ? picker.spec : "";
      this.#dialog.returnValue = "";
      // The form that starts a share can have taken them over.
      if (this.#dialog.contains(find("picker"))) sources.stop();
      if (spec) choose(spec);
    });
  }

  /** @param {string} spec of the source that is shared */
  open(spec) {
    find("source-place").append(find("picker"));
    this.#picker.wish(spec);
    this.#sources.start();
    this.#dialog.showModal();
  }
}
