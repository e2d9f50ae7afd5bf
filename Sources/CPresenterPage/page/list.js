/** A list that keeps the elements of items that stay, and with them the focus and the position of a screen reader. */

/**
 * @template {{ id: string | number }} Item
 * @typedef {object} Rows
 * @property {(item: Item) => HTMLElement} make
 * @property {(element: HTMLElement, item: Item) => void} fill
 */

/** The time (ms) after a row was removed in which clicks in its list are not meant for the rows that took its place. */
const SETTLING = 500;

/** The times at which rows were removed, by list. @type {WeakMap<Element, number>} */
const moves = new WeakMap();

/** Whether the rows of a list have just moved. @param {Element} element in a row */
export const hasMoved = (element) => performance.now() - (moves.get(element.closest("ul")) ?? -SETTLING) < SETTLING;

/** @template {{ id: string | number }} Item */
export class List {
  #elements = new Map();
  #list;
  #heading;
  #rows;

  /** @param {HTMLElement} list @param {HTMLElement} heading has the focus after the last item @param {Rows<Item>} rows */
  constructor(list, heading, rows) {
    this.#list = list;
    this.#heading = heading;
    this.#rows = rows;
  }

  /** @param {Item[]} items */
  show(items) {
    const focused = this.#list.contains(document.activeElement) ? document.activeElement : undefined;
    const place = focused && [...this.#list.children].findIndex((element) => element.contains(focused));
    const kept = new Set(items.map(({ id }) => id));
    for (const [id, element] of this.#elements) {
      if (kept.has(id)) continue;
      element.remove();
      this.#elements.delete(id);
      moves.set(this.#list, performance.now());
    }
    let next = this.#list.firstElementChild;
    for (const item of items) {
      const element = this.#elements.get(item.id) ?? this.#rows.make(item);
      this.#elements.set(item.id, element);
      this.#rows.fill(element, item);
      if (element === next) next = next.nextElementSibling;
      else this.#list.insertBefore(element, next);
    }
    reveal(this.#list, items.length > 0);
    if (focused && document.activeElement !== focused) this.#focus(focused, place);
  }

  /** Removes all elements, so that the next ones are in another language. */
  clear() {
    this.#elements.clear();
    this.#list.replaceChildren();
  }

  /** Focuses the item that took the place, and not its button: a key that is held down must not press that. */
  #focus(focused, place) {
    const { children } = this.#list;
    const neighbor = children[Math.min(place, children.length - 1)];
    neighbor?.setAttribute("tabindex", "-1");
    (focused.isConnected ? focused : (neighbor ?? this.#heading)).focus();
  }
}

/** @param {string} id @returns {HTMLElement} */
export const find = (id) => document.getElementById(id);

// Each change of the document is work for the browser and for a screen reader, even one to the same value.

/** Sets a text if it differs. @param {Element} element @param {string} words */
export function put(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** Sets an attribute if it differs. @param {Element} element @param {string} name @param {string} value */
export function mark(element, name, value) {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

/** Shows or hides an element if that changes something. @param {HTMLElement} element @param {unknown} isShown */
export function reveal(element, isShown) {
  if (element.hidden === Boolean(isShown)) element.hidden = !isShown;
}

/** Sets the options of a list if they differ. An unknown choice becomes one. @param {HTMLSelectElement} list @param {[string, string][]} options @param {string} chosen */
export function offer(list, options, chosen) {
  const all = options.some(([value]) => value === chosen) ? options : [...options, [chosen, chosen]];
  if (JSON.stringify(all) !== JSON.stringify([...list.options].map(({ value, label }) => [value, label]))) {
    list.replaceChildren(...all.map(([value, label]) => new Option(label, value)));
  }
  list.value = chosen;
}

/**
 * @param {string} name of the element @param {Record<string, string>} [attributes] @param {(Element | string)[]} [content]
 * @returns {HTMLElement}
 */
export function make(name, attributes = {}, ...content) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...content);
  return element;
}
