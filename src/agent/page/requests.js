/** The list of captured requests: live, filtered, walked through with the keyboard. */
import { Detail } from './detail.js';
import { $, call } from './dom.js';
import { Live } from './live.js';
import { Rows } from './rows.js';
import { say } from './say.js';

const pageful = 500;
const typingMs = 200;

export class Requests {
  #rows = new Rows();
  #held = 0;
  /** Up to which one the agent has looked, where it holds older ones. */
  #upTo;
  #most = pageful;
  #selected;
  #isCapturing = true;
  /** The list goes by another filter than the one that was asked for. */
  #isStale = true;
  #timer;
  #live = new Live({ snapshot: (listing) => this.#snapshot(listing), changed: (listing) => this.#changed(listing) });
  #detail = new Detail({ select: (id) => this.select(id), back: () => this.deselect() });
  #onChange;
  #onSelect;

  /** `onChange` is told how the list stands when that changes, `onSelect` of the id that is chosen, if any. */
  constructor({ onChange, onSelect }) {
    this.#onChange = onChange;
    this.#onSelect = onSelect;
    $('filter').addEventListener('input', () => this.#refilter(typingMs));
    $('tunnel').addEventListener('change', () => this.#refilter(0));
    $('older').addEventListener('click', () => this.#loadOlder());
    $('clear').addEventListener('click', () => call('DELETE', '/api/requests/http').catch(told));
    $('rows').addEventListener('click', (event) => {
      const chosen = event.target.closest('.row');
      if (chosen !== null) this.select(chosen.id);
    });
    this.#refilter(0);
  }

  get detail() {
    return this.#detail;
  }

  get selected() {
    return this.#selected;
  }

  /** For the words that stand in the place of a list that shows nothing. */
  get state() {
    const isEmpty = this.#rows.size === 0 && !this.#isStale;
    return { isEmpty, isFiltered: this.#isFiltered(), isCapturing: this.#isCapturing };
  }

  select(id) {
    this.#mark(id);
    this.#detail.show(id);
  }

  deselect() {
    const isFocused = $('detail').contains(document.activeElement);
    this.#mark(undefined);
    this.#detail.clear();
    if (isFocused) $('rows').focus();
  }

  move(isDown) {
    const next = this.#rows.next(isDown);
    if (next !== undefined) this.select(next);
  }

  addTunnel(name) {
    this.#rows.addTunnel(name);
  }

  #mark(id) {
    this.#selected = id;
    this.#rows.mark(id);
    $('requests').classList.toggle('chosen', id !== undefined);
    this.#onSelect(id);
  }

  #isFiltered() {
    return $('filter').value.trim() !== '' || $('tunnel').value !== '';
  }

  /** Of whatever the field holds, also half of a character. */
  #query(more = {}) {
    return new URLSearchParams({ filter: $('filter').value.trim(), tunnel: $('tunnel').value, ...more }).toString();
  }

  #refilter(afterMs) {
    this.#isStale = true;
    this.#live.stop();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#live.follow(this.#query()), afterMs);
    this.#count();
  }

  #snapshot({ requests, held, upTo, capturing }) {
    const isCleared = held === 0 && this.#held > 0;
    // Older ones that were loaded stay, as when the page was hidden for a while.
    const keepsBelow = !this.#isStale && upTo !== undefined && this.#rows.has(upTo);
    if (!keepsBelow) this.#upTo = upTo;
    this.#isStale = false;
    this.#isCapturing = capturing;
    this.#held = held;
    this.#rows.replace(requests, keepsBelow);
    this.#most = Math.max(pageful, this.#rows.size);
    this.#count();
    if (isCleared) this.deselect();
    else if (this.#rows.has(this.#selected)) this.#detail.refresh();
  }

  #changed({ requests, held }) {
    this.#held = held;
    for (const request of requests) {
      this.#rows.put(request, this.#upTo !== undefined);
      if (request.id === this.#selected) this.#detail.refresh();
    }
    // The oldest leave as they leave the agent, and when there are more than were asked for.
    const most = this.#isFiltered() ? this.#most : Math.min(this.#most, held);
    if (this.#rows.trim(most)) this.#upTo = this.#rows.last;
    this.#count();
  }

  async #loadOlder() {
    const asked = this.#query({ before: this.#upTo });
    $('older').disabled = true;
    try {
      const { requests, held, upTo } = await call('GET', `/inspect/requests?${asked}`);
      // Meanwhile another filter may have been set.
      if (this.#isStale || asked !== this.#query({ before: this.#upTo })) return;
      this.#held = held;
      this.#upTo = upTo;
      this.#rows.append(requests);
      this.#most = Math.max(this.#most, this.#rows.size);
      this.#count();
    } catch (error) {
      told(error);
    } finally {
      $('older').disabled = false;
    }
  }

  #count() {
    const [shown, held] = [this.#rows.size, this.#held].map((count) => count.toLocaleString('en'));
    const isFiltered = this.#isFiltered();
    const hasOlder = this.#upTo !== undefined && (isFiltered || this.#rows.size < this.#held);
    const found = isFiltered
      ? `${shown} found in ${hasOlder ? 'the newest of ' : ''}${held} requests`
      : `${shown} of ${held} requests`;
    $('count').textContent = this.#isStale ? 'Looking…' : this.#held === 0 ? '' : found;
    $('older').hidden = this.#isStale || !hasOlder;
    $('older').textContent = isFiltered ? 'Look further back' : 'Load older';
    this.#onChange(this.state);
  }
}

const told = ({ message }) => say(message);
