/** One captured request in full, followed while it goes on, and what can be done with it. */
import { copy } from './copy.js';
import { curlLine } from './curl.js';
import { $, call, duration, element, nameOf } from './dom.js';
import { edit } from './edit.js';
import { ExchangeView } from './exchange.js';
import { say } from './say.js';
import { fetched } from './stored.js';

/** What goes on is asked for again so soon, and no more often than it can be had easily. */
const soonestMs = 400;
const shareOfTime = 5;

export class Detail {
  #id;
  #shown;
  #version;
  #view;
  #timer;
  #isLoading = false;
  /** Something has changed since it was asked for. */
  #isOld = false;
  /** The id of a replay that is to be told of when it has ended. */
  #awaited;
  #select;
  #back;

  /** `select` is told of the id of a replay, `back` that the list is wanted instead. */
  constructor({ select, back }) {
    this.#select = select;
    this.#back = back;
  }

  /** What was shown before stays until it is there. */
  show(id) {
    if (id !== this.#id) this.#forget();
    this.#id = id;
    this.refresh();
  }

  clear(why = 'Choose a request.') {
    this.#forget();
    $('detail').replaceChildren(element('p', { class: 'hint' }, why));
  }

  #forget() {
    clearTimeout(this.#timer);
    [this.#id, this.#shown, this.#version, this.#view] = [];
    this.#isLoading = false;
  }

  /** Shows what has changed. */
  async refresh() {
    const id = this.#id;
    if (id === undefined) return;
    this.#isOld = this.#isLoading;
    if (this.#isLoading) return;
    this.#isLoading = true;
    clearTimeout(this.#timer);
    const startedAt = performance.now();
    const news = await load(id, this.#version);
    // Another one may have been chosen meanwhile.
    if (this.#id !== id) return;
    this.#isLoading = false;
    this.#take(news);
    if (this.#isOld) this.refresh();
    else if (this.#shown?.ended === false && news.gone === undefined) {
      const tookMs = performance.now() - startedAt;
      this.#timer = setTimeout(() => this.refresh(), Math.max(soonestMs, shareOfTime * tookMs));
    }
  }

  async replay() {
    if (this.#shown === undefined) return;
    try {
      this.#follow(await call('POST', '/inspect/replays', { id: this.#shown.id }));
    } catch (error) {
      say(`Not replayed: ${error.message}`);
    }
  }

  edit() {
    if (this.#shown === undefined) return;
    edit(this.#shown, (sent) => this.#follow(sent)).catch((error) => say(error.message));
  }

  async copyCurl() {
    if (this.#shown === undefined) return;
    const { id, method, uri, request, tunnel } = this.#shown;
    try {
      const [body, { tunnels }] = await Promise.all([fetched(id, 'request', 'body'), call('GET', '/api/tunnels')]);
      const running = tunnels.find((one) => one.proto === 'http' && nameOf(one) === tunnel);
      const base = running?.public_url ?? `${location.protocol}//${location.host}`;
      const what = request.body.truncated || !request.complete ? 'Command (with what there is of the body)' : 'Command';
      await copy(curlLine({ method, uri, headers: request.headers, body, base }), what);
    } catch (error) {
      say(error.message);
    }
  }

  #take({ shown, version, gone }) {
    if (gone !== undefined) {
      // What has been read so far stays.
      if (this.#view === undefined) this.clear(gone);
      else say(gone);
      return;
    }
    if (shown === undefined) return;
    [this.#shown, this.#version] = [shown, version];
    if (this.#view === undefined) this.#draw();
    this.#view.update(shown, version);
    this.#tell();
  }

  #draw() {
    this.#view = new ExchangeView(this.#id, {
      back: this.#back,
      select: this.#select,
      replay: () => this.replay(),
      edit: () => this.edit(),
      copyCurl: () => this.copyCurl(),
    });
    const { id } = $('detail').contains(document.activeElement) ? document.activeElement : {};
    $('detail').replaceChildren(this.#view.root);
    $('detail').scrollTop = 0;
    // Whoever stands on a button goes on there.
    if (id) $(id)?.focus();
  }

  #follow({ id }) {
    if (id === null) {
      say('Replayed. Its tunnel does not capture, so how it goes is not shown.');
      return;
    }
    this.#awaited = id;
    this.#select(id);
    say('Replaying…');
  }

  #tell() {
    const { id, ended, response, error, duration: ns } = this.#shown;
    if (id !== this.#awaited || !ended) return;
    this.#awaited = undefined;
    const how = error === undefined ? `${response?.status} in ${duration(ns)}` : `failed: ${error}`;
    say(`Replayed: ${how}`);
  }
}

/** What is new since that version; `gone` says why there is nothing to be had. */
async function load(id, version) {
  // An address can hold anything.
  if (!/^\w{1,64}$/.test(id)) return { gone: 'The address names no captured request.' };
  const headers = version === undefined ? {} : { 'if-none-match': version };
  try {
    const response = await fetch(`/inspect/requests/${id}`, { headers, cache: 'no-store' });
    if (response.status === 304) return {};
    if (response.status === 404)
      return { gone: `The agent holds no request ${id}: it was cleared, or had to make room.` };
    if (!response.ok) return { gone: `The agent answered ${response.status}.` };
    return { shown: await response.json(), version: response.headers.get('etag') };
  } catch {
    return { gone: 'The agent cannot be reached.' };
  }
}
