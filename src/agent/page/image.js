import { element } from './dom.js';
import { fetched } from './stored.js';

const types = /^image\/(png|jpeg|gif|webp|avif|bmp|x-icon|vnd\.microsoft\.icon|svg\+xml)\s*(;|$)/i;
const largest = 16 * 1024 * 1024;

/** The type of a body that a browser shows as an image; empty when it does not. */
export function imageType({ contentType, size, problem }) {
  const [, subtype] = types.exec(contentType) ?? [];
  return subtype === undefined || size === 0 || size > largest || problem !== undefined ? '' : `image/${subtype}`;
}

/** As an image element alone a browser runs no script of it and loads nothing for it, whatever it holds. */
export function image({ kind, id, type }) {
  const shown = element('img', { alt: `Body of the ${kind}: ${type}`, decoding: 'async', hidden: '' });
  const note = element('p', { class: 'facts' });
  const failed = () => {
    note.textContent = `This is no ${type} that the browser shows.`;
  };
  const load = async () => {
    const url = URL.createObjectURL(new Blob([await fetched(id, kind, 'content')], { type }));
    const loaded = () => {
      URL.revokeObjectURL(url);
      shown.hidden = false;
      note.textContent = `${shown.naturalWidth} × ${shown.naturalHeight}`;
    };
    shown.addEventListener('load', loaded);
    shown.addEventListener('error', () => {
      URL.revokeObjectURL(url);
      failed();
    });
    shown.src = url;
  };
  load().catch(failed);
  return element('div', { class: 'image' }, shown, note);
}
