import { element } from './dom.js';

/** What was closed stays so from one request to the next. */
const closed = new Set();

/** A part that can be closed; `name` tells it from the others. */
export function foldable(name, title, ...children) {
  const ontoggle = ({ target }) => (target.open ? closed.delete(name) : closed.add(name));
  const made = element('details', { ontoggle }, element('summary', {}, title), ...children);
  made.open = !closed.has(name);
  return made;
}
