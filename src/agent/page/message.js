import { BodyView } from './body.js';
import { copyButton } from './copy.js';
import { element, pairs } from './dom.js';
import { foldable } from './foldable.js';
import { Part } from './part.js';

const longestOnLine = 32;

/** A request or response: what its target asks, its headers, its body. */
export class MessageView {
  #title;
  #query;
  #headers;
  #body;
  #root;

  /** `kind` is `request` or `response`; `id` that of the captured request. */
  constructor(kind, id) {
    this.#title = new Part(element('h3'), (status) => titled(kind, status));
    this.#query = new Part(element('div'), (uri) => queryTable(uri));
    this.#headers = new Part(element('div'), (headers) => headerTable(kind, headers));
    this.#body = new BodyView(kind, id);
    this.#root = element('section', { class: `side ${kind}`, 'aria-label': nameOf(kind) });
    this.#root.append(this.#title.root, this.#query.root, this.#headers.root, this.#body.root);
  }

  get root() {
    return this.#root;
  }

  /** `message` is null while there is none. */
  update({ message, uri = '', ended, version, isRaw }) {
    this.#title.update(message === null ? (ended ? 'none' : 'none yet') : (message.status ?? ''));
    this.#query.update(isRaw ? '' : uri);
    this.#headers.update(isRaw || message === null ? [] : message.headers);
    if (message === null) this.#body.clear();
    else if (isRaw) this.#body.showRaw(version);
    else this.#body.show(message.body, { isComplete: message.complete, ended });
  }
}

const nameOf = (kind) => (kind === 'request' ? 'Request' : 'Response');

function titled(kind, status) {
  if (kind === 'request') return ['Request'];
  if (status === 'none') return ['No response'];
  if (status === 'none yet') return ['No response yet'];
  return ['Response ', element('span', { class: `s${status[0]}` }, status)];
}

function queryTable(uri) {
  const at = uri.indexOf('?');
  const parameters = at < 0 ? [] : [...new URLSearchParams(uri.slice(at + 1))];
  if (parameters.length === 0) return [];
  return [foldable('query', `Query parameters (${parameters.length})`, table(parameters))];
}

function headerTable(kind, headers) {
  const all = pairs(headers);
  if (all.length === 0) return [];
  const text = () => all.map(([name, value]) => `${name}: ${value}\n`).join('');
  const copyAll = copyButton('Copy headers', 'Headers', text);
  const rows = table(all, ([name, value]) => {
    const button = copyButton('Copy', `Header ${name}`, () => value);
    button.setAttribute('aria-label', `Copy header ${name}`);
    // Of thirty stops on the way to the body a keyboard is spared.
    button.tabIndex = -1;
    return button;
  });
  return [foldable(`${kind} headers`, `Headers (${all.length})`, rows, copyAll)];
}

function table(all, more = () => '') {
  const rows = all.map((pair) => {
    const [name, value] = pair;
    const head = element('th', { scope: 'row', class: name.length > longestOnLine ? 'long' : undefined }, name);
    return element('tr', {}, head, element('td', {}, value, ' ', more(pair)));
  });
  return element('table', { class: 'headers' }, element('tbody', {}, ...rows));
}
