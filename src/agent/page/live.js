import { $ } from './dom.js';

/** Live updates while the page can be seen: hidden ones would use up the six connections a browser has for them all. */
export class Live {
  #events;
  #query;
  #listener;

  /** `listener` has a method for each event. */
  constructor(listener) {
    this.#listener = listener;
    document.addEventListener('visibilitychange', () => {
      if (this.#query !== undefined) this.follow(this.#query);
    });
  }

  /** The requests that match the query, which the agent looks for: it alone has their headers and bodies. */
  follow(query) {
    this.stop();
    this.#query = query;
    if (document.hidden) return;
    const events = new EventSource(`/inspect/events?${query}`);
    this.#events = events;
    events.addEventListener('open', () => mark(true));
    events.addEventListener('error', () => mark(false));
    for (const name of ['snapshot', 'changed'])
      events.addEventListener(name, ({ data }) => this.#listener[name](JSON.parse(data)));
  }

  /** Nothing more comes by the query of before. */
  stop() {
    this.#events?.close();
    this.#events = undefined;
    this.#query = undefined;
  }
}

function mark(isLive) {
  $('live').textContent = isLive ? 'live' : 'agent away';
  $('live').classList.toggle('on', isLive);
}
