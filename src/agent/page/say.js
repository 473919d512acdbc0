import { $ } from './dom.js';

const shownMs = 8_000;
let timer;

/** A short line for all to see and for screen readers to speak: of the rest of the page nothing is spoken by itself. */
export function say(text) {
  clearTimeout(timer);
  $('said').textContent = text;
  timer = setTimeout(() => {
    $('said').textContent = '';
  }, shownMs);
}
