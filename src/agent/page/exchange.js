import { copy } from './copy.js';
import { dayAndTime, duration, element } from './dom.js';
import { MessageView } from './message.js';
import { Part } from './part.js';

/** As it was chosen last: which side is shown where there is no room for both, and whether as it was on the wire. */
let side = 'request';
let isRaw = false;

/** A captured request and its response, of which only what has changed is drawn anew. */
export class ExchangeView {
  #root;
  #parts;
  #request;
  #response;
  #last;

  /** `actions` are what its buttons do. */
  constructor(id, actions) {
    this.#request = new MessageView('request', id);
    this.#response = new MessageView('response', id);
    this.#parts = {
      title: new Part(element('h2'), (title) => [title]),
      facts: new Part(element('p', { class: 'facts' }), (facts) => factsOf(id, facts, actions)),
      error: new Part(element('p', { class: 'error' }), (error) => (error === '' ? [] : [`Failed: ${error}`])),
      tabs: new Part(element('div', { class: 'line tabs', role: 'group', 'aria-label': 'Shown' }), (status) =>
        ['request', 'response'].map((kind) => this.#tab(kind, status)),
      ),
    };
    const { title, facts, error, tabs } = this.#parts;
    const sides = element('div', { class: 'sides' }, this.#request.root, this.#response.root);
    this.#root = element('div', { class: 'exchange' });
    this.#root.append(title.root, facts.root, this.#buttons(id, actions), error.root, tabs.root, sides);
    this.#root.dataset.side = side;
  }

  get root() {
    return this.#root;
  }

  update(shown, version) {
    this.#last = [shown, version];
    const {
      method,
      uri,
      tunnel,
      remoteAddr,
      start,
      ended,
      duration: ns,
      error = '',
      replayOf,
      request,
      response,
    } = shown;
    this.#parts.title.update(`${method} ${uri}`);
    const took = ended ? duration(ns) : 'in progress';
    this.#parts.facts.update({ facts: [tunnel, `from ${remoteAddr}`, dayAndTime(start), took], replayOf });
    this.#parts.error.update(error);
    this.#parts.tabs.update(response?.status ?? '');
    const common = { ended, version, isRaw };
    this.#request.update({ ...common, message: request, uri });
    this.#response.update({ ...common, message: response });
  }

  #buttons(id, { back, replay, edit, copyCurl }) {
    const link = `${location.origin}/#${id}`;
    const toggle = ({ target }) => {
      isRaw = !isRaw;
      target.setAttribute('aria-pressed', String(isRaw));
      this.update(...this.#last);
    };
    return element(
      'div',
      { class: 'line' },
      element('button', { id: 'back', title: 'Esc', onclick: back }, '‹ List'),
      element('button', { id: 'replay', class: 'main', title: 'r', onclick: replay }, 'Replay'),
      element('button', { id: 'edit-open', title: 'e', onclick: edit }, 'Edit and replay'),
      element('button', { id: 'copy-curl', title: 'c', onclick: copyCurl }, 'Copy as curl'),
      element('button', { id: 'copy-link', onclick: () => copy(link, 'Link') }, 'Copy link'),
      element('button', { id: 'raw', 'aria-pressed': String(isRaw), onclick: toggle }, 'Raw'),
    );
  }

  #tab(kind, status) {
    const onclick = () => {
      side = kind;
      this.#root.dataset.side = kind;
      for (const tab of this.#parts.tabs.root.children)
        tab.setAttribute('aria-pressed', String(tab.dataset.side === kind));
    };
    const label = kind === 'request' ? 'Request' : `Response ${status}`.trim();
    const attributes = { 'data-side': kind, 'aria-pressed': String(side === kind), onclick };
    return element('button', attributes, label);
  }
}

function factsOf(id, { facts, replayOf }, { select }) {
  const original = element('a', { href: `#${replayOf}` }, replayOf ?? '');
  original.addEventListener('click', (event) => {
    event.preventDefault();
    select(replayOf);
  });
  const rest = replayOf === undefined ? [] : [' · replay of ', original];
  return [facts.join(' · '), ' · ', element('span', { class: 'id' }, id), ...rest];
}
