/**
 * A piece of the page that is drawn anew only when what it shows has changed: whoever stands in it, has scrolled it or
 * selected text there is not disturbed by updates of something else.
 */
export class Part {
  #root;
  #draw;
  #shown;

  /** `draw` gives what is to be in the root. */
  constructor(root, draw) {
    this.#root = root;
    this.#draw = draw;
  }

  get root() {
    return this.#root;
  }

  update(...values) {
    const now = JSON.stringify(values);
    if (now === this.#shown) return;
    this.#shown = now;
    this.#root.replaceChildren(...this.#draw(...values));
  }
}
