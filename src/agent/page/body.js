import { copyButton } from './copy.js';
import { bytes, element } from './dom.js';
import { image, imageType } from './image.js';
import { Part } from './part.js';
import { layOut } from './pretty.js';
import { fetched } from './stored.js';

/** More takes a browser seconds to lay out; all of it can be saved. */
const mostShown = 256 * 1024;

/** The body of a message, laid out or raw. */
export class BodyView {
  #kind;
  #id;
  #root;
  #notes;
  #tools;
  #image;
  #pre;
  #text = '';
  #charset;
  #rawVersion;

  constructor(kind, id) {
    this.#kind = kind;
    this.#id = id;
    this.#notes = new Part(element('p', { class: 'facts size' }), (notes) => [notes.join(' · ')]);
    this.#tools = new Part(element('div', { class: 'line' }), (isThere) => (isThere ? this.#buttons() : []));
    this.#image = new Part(element('div'), (type) => (type === '' ? [] : [image({ kind, id, type })]));
    this.#pre = element('pre', { class: 'body', tabindex: '0', role: 'region', 'aria-label': `Body of the ${kind}` });
    this.#root = element(
      'div',
      {},
      element('div', { class: 'above' }, this.#notes.root, this.#tools.root),
      this.#image.root,
      this.#pre,
    );
    this.clear();
  }

  get root() {
    return this.#root;
  }

  clear() {
    this.#draw({ notes: [], text: '' });
  }

  /** `isComplete` is whether all of it has come, `ended` whether more may. */
  show(body, { isComplete, ended }) {
    this.#rawVersion = undefined;
    this.#charset = body.charset;
    const { text, notes } = layOut(body, isComplete);
    const type = isComplete && !body.truncated ? imageType(body) : '';
    const isImage = type !== '' && body.encoding === 'base64';
    const all = [
      ...(body.size === 0 ? [] : [bytes(body.size)]),
      ...(body.decoded === undefined ? [] : [`${body.decoded} decoded`]),
      ...(body.charset === undefined ? [] : [body.charset]),
      ...(body.problem === undefined ? [] : [body.problem]),
      ...notes,
      ...(body.truncated ? ['cut off here'] : []),
      ...(!isComplete && !body.truncated && ended ? ['broken off here'] : []),
      ...(!isComplete && !ended ? ['still coming'] : []),
    ];
    this.#draw({ notes: all, text: isImage ? '' : text, type, isThere: body.size > 0 });
  }

  /** The message as it was on the wire. */
  async showRaw(version) {
    if (this.#rawVersion === version) return;
    this.#rawVersion = version;
    const raw = await fetched(this.#id, this.#kind, 'raw').catch(({ message }) => new TextEncoder().encode(message));
    if (this.#rawVersion !== version) return;
    const notes = raw.length > mostShown ? ['the beginning is shown'] : [];
    this.#draw({ notes, text: new TextDecoder().decode(raw.subarray(0, mostShown)) });
  }

  #draw({ notes, text, type = '', isThere = false }) {
    const isCut = text.length > mostShown;
    const more = isCut ? ['the beginning is shown: Download has all'] : [];
    this.#notes.update([...notes, ...more]);
    this.#notes.root.hidden = notes.length === 0;
    this.#tools.update(isThere);
    this.#image.update(type);
    this.#write(isCut ? text.slice(0, mostShown) : text);
    this.#pre.hidden = text === '';
  }

  /** What only grows is left as it is: so are scroll position and selection. */
  #write(text) {
    if (text === this.#text) return;
    const { scrollTop } = this.#pre;
    const isLonger = this.#text !== '' && text.startsWith(this.#text);
    if (isLonger) this.#pre.append(text.slice(this.#text.length));
    else this.#pre.textContent = text;
    this.#pre.scrollTop = scrollTop;
    this.#text = text;
  }

  #buttons() {
    const path = `/inspect/requests/${this.#id}/${this.#kind}/content`;
    return [
      copyButton('Copy body', 'Body', () => this.#copied()),
      element('a', { class: 'button', href: path, download: '' }, 'Download'),
    ];
  }

  async #copied() {
    const content = await fetched(this.#id, this.#kind, 'content');
    return new TextDecoder(this.#charset).decode(content);
  }
}
