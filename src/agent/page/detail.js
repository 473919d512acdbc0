/** One captured request in full, and what can be done with it. */
import { $, bytes, call, duration, element } from './dom.js';
import { edit } from './edit.js';
import { layOut } from './json.js';

export class Detail {
  #id;
  #shown;
  #select;
  #back;
  #raw = false;

  /** `select` is told of the id of a replay, `back` that the list is wanted instead. */
  constructor({ select, back }) {
    this.#select = select;
    this.#back = back;
  }

  async show(id) {
    this.#id = id;
    try {
      const shown = await call('GET', `/inspect/requests/${encodeURIComponent(id)}`);
      // Another one may have been chosen meanwhile.
      if (this.#id !== id) return;
      this.#shown = shown;
      this.#draw();
    } catch (error) {
      if (this.#id === id) this.clear(error.message);
    }
  }

  clear(why = 'Choose a request.') {
    this.#shown = undefined;
    this.#id = undefined;
    $('detail').replaceChildren(element('p', { class: 'hint' }, why));
  }

  async replay() {
    if (this.#shown === undefined) return;
    try {
      await call('POST', '/api/requests/http', { id: this.#shown.id });
    } catch (error) {
      this.#say(error.message);
    }
  }

  edit() {
    if (this.#shown !== undefined) edit(this.#shown, (id) => id !== null && this.#select(id));
  }

  #say(text) {
    document.querySelector('#detail .error').textContent = text;
  }

  #draw() {
    const { request, response, tunnel, remote_addr, start, duration: ns, ended, error, replay_of } = this.#shown;
    const facts = [
      tunnel,
      `from ${remote_addr}`,
      new Date(start).toLocaleTimeString(),
      ended ? duration(ns) : 'in progress',
      ...(replay_of === undefined ? [] : [`replay of ${replay_of}`]),
    ];
    $('detail').replaceChildren(
      element('h2', {}, `${request.method} ${request.uri}`),
      element('p', { class: 'facts' }, facts.join(' · ')),
      this.#buttons(),
      element('p', { class: 'error', role: 'alert' }, error ?? ''),
      element('h3', {}, 'Request'),
      headerTable(this.#shown.requestHeaders),
      ...this.#body(this.#shown.requestBody, request.raw),
      ...this.#response(response, ended),
    );
  }

  #response(response, ended) {
    if (response === null) return [element('h3', {}, ended ? 'No response' : 'No response yet')];
    const status = element('span', { class: `s${response.status[0]}` }, response.status);
    return [
      element('h3', {}, 'Response ', status),
      headerTable(this.#shown.responseHeaders),
      ...this.#body(this.#shown.responseBody, response.raw),
    ];
  }

  #buttons() {
    const toggle = () => {
      this.#raw = !this.#raw;
      this.#draw();
    };
    return element(
      'div',
      { class: 'line' },
      element('button', { id: 'back', title: 'Esc', onclick: this.#back }, '‹ List'),
      element('button', { id: 'replay', class: 'main', title: 'r', onclick: () => this.replay() }, 'Replay'),
      element('button', { id: 'edit-open', title: 'e', onclick: () => this.edit() }, 'Edit and replay'),
      element('button', { id: 'raw', 'aria-pressed': String(this.#raw), onclick: toggle }, 'Raw'),
    );
  }

  #body(body, raw) {
    if (this.#raw) return [element('pre', { class: 'body' }, text(raw))];
    if (body.size === 0) return [];
    const notes = [
      bytes(body.size),
      ...(body.decoded === undefined ? [] : [`${body.decoded} decoded`]),
      ...(body.problem === undefined ? [] : [body.problem]),
      ...(body.truncated ? ['cut off here'] : []),
    ];
    return [element('p', { class: 'facts size' }, notes.join(' · ')), element('pre', { class: 'body' }, pretty(body))];
  }
}

function headerTable(headers) {
  const rows = [];
  for (let at = 0; at < headers.length; at += 2) {
    rows.push(element('tr', {}, element('th', {}, headers[at]), element('td', {}, headers[at + 1])));
  }
  return element('table', { class: 'headers' }, element('tbody', {}, ...rows));
}

/** JSON and forms laid out, other text as it is, bytes as hex. */
function pretty({ text: body, encoding, contentType }) {
  if (encoding === 'base64') return hexDump(body);
  if (/\bjson\b/i.test(contentType) || /^\s*[{[]/.test(body)) {
    try {
      return layOut(body);
    } catch {
      return body;
    }
  }
  if (!/x-www-form-urlencoded/i.test(contentType)) return body;
  return [...new URLSearchParams(body)].map(([name, value]) => `${name} = ${value}`).join('\n');
}

const text = (base64) => new TextDecoder().decode(decoded(base64));
const decoded = (base64) => Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));

function hexDump(base64) {
  const all = decoded(base64).subarray(0, 4096);
  const lines = [];
  for (let at = 0; at < all.length; at += 16) {
    const part = [...all.subarray(at, at + 16)];
    const hex = part.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = part.map((byte) => (byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join('\n');
}
