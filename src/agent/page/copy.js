import { element } from './dom.js';
import { say } from './say.js';

/** Puts text on the clipboard, and says so. */
export async function copy(text, what) {
  try {
    await (navigator.clipboard?.writeText(text) ?? copyOld(text));
    say(`${what} copied.`);
  } catch {
    say(`The browser does not let ${what.toLowerCase()} be copied.`);
  }
}

/** Browsers have a clipboard for pages of this machine and https only; the page may be at `web_allow_hosts`. */
function copyOld(text) {
  const field = element('textarea', { class: 'unseen', 'aria-hidden': 'true' });
  field.value = text;
  const focused = document.activeElement;
  document.body.append(field);
  field.select();
  const isDone = document.execCommand('copy');
  field.remove();
  focused?.focus();
  if (!isDone) throw new Error('not copied');
}

/** A button that copies what `text` gives, or promises, when it is pressed. */
export function copyButton(label, what, text) {
  const onclick = async () => {
    try {
      await copy(await text(), what);
    } catch (error) {
      say(error.message);
    }
  };
  return element('button', { type: 'button', class: 'small', onclick }, label);
}
