import { $ } from './dom.js';
import { row } from './row.js';

/** The rows of the list, newest on top. */
export class Rows {
  #byId = new Map();
  #tunnels = new Set();
  #selected;

  get size() {
    return this.#byId.size;
  }

  get last() {
    return $('rows').lastElementChild?.id;
  }

  has(id) {
    return this.#byId.has(id);
  }

  /** These, newest first, and what is below the last of them already, if that is wanted. */
  replace(requests, keepsBelow) {
    const below = keepsBelow ? rowsBelow(this.#byId.get(requests.at(-1)?.id)) : [];
    const rows = [...requests.map((request) => this.#row(request)), ...below];
    this.#byId = new Map(rows.map((one) => [one.id, one]));
    $('rows').replaceChildren(...rows);
  }

  /**
   * A changed request keeps its place; another one comes before those that began earlier, as it may match only once it has
   * ended. Where older ones are not loaded, what would come last is one of these.
   */
  put(request, hasOlder) {
    const before = this.#byId.get(request.id);
    const now = this.#row(request);
    const next = before === undefined ? this.#firstBefore(request.start) : undefined;
    if (next === null && hasOlder && this.size > 0) return;
    this.#byId.set(request.id, now);
    if (before === undefined) $('rows').insertBefore(now, next);
    else before.replaceWith(now);
  }

  #firstBefore(start) {
    let one = $('rows').firstElementChild;
    while (one !== null && one.dataset.start > start) one = one.nextElementSibling;
    return one;
  }

  append(requests) {
    const rows = requests.filter(({ id }) => !this.has(id)).map((request) => this.#row(request));
    for (const one of rows) this.#byId.set(one.id, one);
    $('rows').append(...rows);
  }

  /** Leaves the newest so many; whether any had to go. */
  trim(most) {
    const isOver = this.size > most;
    while (this.size > most) {
      this.#byId.delete(this.last);
      $('rows').lastElementChild.remove();
    }
    return isOver;
  }

  mark(id) {
    this.#byId.get(this.#selected)?.setAttribute('aria-selected', 'false');
    this.#selected = id;
    this.#byId.get(id)?.setAttribute('aria-selected', 'true');
    $('rows').setAttribute('aria-activedescendant', this.has(id) ? id : '');
    this.#byId.get(id)?.scrollIntoView({ block: 'nearest' });
  }

  /** The id below the marked one, or above it; the first when that is not in the list. */
  next(isDown) {
    const at = this.#byId.get(this.#selected);
    if (at === undefined) return $('rows').firstElementChild?.id;
    return (isDown ? at.nextElementSibling : at.previousElementSibling)?.id;
  }

  /** Rows name their tunnel once there is more than one. */
  addTunnel(name) {
    this.#tunnels.add(name);
    $('rows').classList.toggle('several', this.#tunnels.size > 1);
  }

  #row(request) {
    this.addTunnel(request.tunnel);
    return row(request, request.id === this.#selected);
  }
}

function rowsBelow(one) {
  const rows = [];
  for (let next = one?.nextElementSibling; next; next = next.nextElementSibling) rows.push(next);
  return rows;
}
