/** The list of captured requests: live, filtered, walked through with the keyboard. */
import { Detail } from './detail.js';
import { $, call, duration, element } from './dom.js';

const most = 500;

export class Requests {
  #byId = new Map();
  #rows = new Map();
  #selected;
  #detail = new Detail({ select: (id) => this.select(id), back: () => this.deselect() });

  constructor() {
    $('filter').addEventListener('input', () => this.#draw());
    $('tunnel').addEventListener('change', () => this.#draw());
    $('clear').addEventListener('click', () => call('DELETE', '/api/requests/http'));
    $('rows').addEventListener('click', (event) => {
      const row = event.target.closest('.row');
      if (row !== null) this.select(row.id);
    });
  }

  get detail() {
    return this.#detail;
  }

  snapshot(newestFirst) {
    this.#byId = new Map(newestFirst.toReversed().map((request) => [request.id, request]));
    this.#draw();
    if (!this.#byId.has(this.#selected)) this.deselect();
  }

  changed(oldestFirst) {
    for (const request of oldestFirst) {
      this.#byId.set(request.id, request);
      this.#place(request);
      if (request.id === this.#selected) this.#detail.show(request.id);
    }
    for (const id of this.#byId.keys()) {
      if (this.#byId.size <= most) break;
      this.#byId.delete(id);
      this.#rows.get(id)?.remove();
      this.#rows.delete(id);
    }
    this.#hint();
  }

  select(id) {
    this.#mark(id);
    this.#rows.get(id)?.scrollIntoView({ block: 'nearest' });
    this.#detail.show(id);
  }

  deselect() {
    this.#mark(undefined);
    this.#detail.clear();
  }

  /** Selects the row that many below the selected one. */
  move(by) {
    const ids = [...$('rows').children].map((row) => row.id);
    const at = ids.indexOf(this.#selected);
    const next = ids[at < 0 ? 0 : Math.min(Math.max(at + by, 0), ids.length - 1)];
    if (next !== undefined) this.select(next);
  }

  #mark(id) {
    this.#rows.get(this.#selected)?.setAttribute('aria-selected', 'false');
    this.#selected = id;
    this.#rows.get(id)?.setAttribute('aria-selected', 'true');
    $('rows').setAttribute('aria-activedescendant', id ?? '');
    $('requests').classList.toggle('chosen', id !== undefined);
  }

  #draw() {
    const shown = [...this.#byId.values()].filter(matches());
    this.#rows = new Map(shown.map((request) => [request.id, this.#row(request)]));
    $('rows').replaceChildren(...[...this.#rows.values()].reverse());
    this.#hint();
  }

  /** A changed request keeps its place, a new one goes on top. */
  #place(request) {
    const before = this.#rows.get(request.id);
    if (!matches()(request)) {
      before?.remove();
      this.#rows.delete(request.id);
      return;
    }
    const row = this.#row(request);
    this.#rows.set(request.id, row);
    if (before === undefined) $('rows').prepend(row);
    else before.replaceWith(row);
  }

  #row(request) {
    const { id, method, uri, status, duration: ns, ended, error, tunnel, replayOf } = request;
    const shownStatus = status === null ? (ended ? '✕' : '…') : String(status);
    const kind = error === undefined ? `s${shownStatus[0]}` : 'error';
    return element(
      'div',
      {
        class: 'row',
        role: 'option',
        id,
        'aria-selected': String(id === this.#selected),
        title: `${tunnel} ${uri}`,
      },
      element('span', { class: 'method' }, method),
      element('span', { class: 'uri' }, replayOf === undefined ? uri : `↻ ${uri}`),
      element('span', { class: `code ${kind}` }, shownStatus),
      element('span', { class: 'time' }, ended ? duration(ns) : ''),
    );
  }

  #hint() {
    const none = $('rows').childElementCount === 0;
    $('none').hidden = !none;
    $('none').textContent = this.#byId.size === 0 ? 'No requests yet: they appear here as they come.' : 'None matches.';
  }
}

/** Every word must be in the method, target, tunnel or status; `5xx` stands for a class of statuses. */
function matches() {
  const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  const tunnel = $('tunnel').value;
  return (request) => {
    if (tunnel !== '' && request.tunnel !== tunnel) return false;
    const status = String(request.status ?? '');
    const text = `${request.method} ${request.uri} ${request.tunnel} ${status} ${status.slice(0, 1)}xx`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
}
