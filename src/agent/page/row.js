import { dayAndTime, duration, element } from './dom.js';

/** A captured request in the list. */
export function row(request, isSelected) {
  const { id, method, uri, duration: ns, ended, error, tunnel, replayOf, start } = request;
  return element(
    'div',
    { class: 'row', role: 'option', id, 'data-start': start, 'aria-selected': String(isSelected), title: error ?? uri },
    element('span', { class: 'method' }, method),
    element('span', { class: 'uri' }, replayOf === undefined ? uri : `↻ ${uri}`),
    code(request),
    element('span', { class: 'when' }, dayAndTime(start)),
    element('span', { class: 'tunnel' }, tunnel),
    element('span', { class: 'time' }, ended ? duration(ns) : ''),
  );
}

/** A 200 that was broken off must not differ from others by its colour alone. */
function code({ status, ended, error }) {
  const text = status === null ? (ended ? '' : '…') : String(status);
  const kind = error === undefined ? `s${text[0]}` : 'error';
  const mark = element('span', { 'aria-hidden': 'true' }, '✕');
  const failed = error === undefined ? [] : [mark, element('span', { class: 'unseen' }, 'failed')];
  return element('span', { class: `code ${kind}` }, text, ...(text === '' ? [] : [' ']), ...failed);
}
