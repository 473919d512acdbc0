/** What all parts of the page need: elements made of text (never of markup), requests, and how values are written. */

export const $ = (id) => document.getElementById(id);

/** An element; text children stay text, whatever they hold. */
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

/** The answer as JSON; throws an Error with the agent's own words. */
export async function call(method, path, body) {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(path, { method, ...(body === undefined ? {} : json) });
  const text = await response.text();
  const answer = text === '' ? undefined : JSON.parse(text);
  if (!response.ok) throw new Error(answer?.details?.err ?? answer?.msg ?? `the agent answered ${response.status}`);
  return answer;
}

/** Names and values in turn, as pairs. */
export function pairs(headers) {
  return Array.from({ length: headers.length / 2 }, (_, at) => [headers[2 * at], headers[2 * at + 1]]);
}

const framing = ['content-length', 'transfer-encoding', 'trailer', 'expect'];

/** Without the headers that are set anew for the body that is sent. */
export const withoutFraming = (headers) => pairs(headers).filter(([name]) => !framing.includes(name.toLowerCase()));

export function base64(bytes) {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** The name by which a tunnel is known: an unnamed one has an id in its `uri` only. */
export const nameOf = ({ name, uri }) => name || decodeURIComponent(uri.split('/').pop());

/** Where a tunnel is reached: a link where a browser can follow it. */
export function publicURL({ proto, public_url: url }) {
  return proto === 'http' ? element('a', { href: url, rel: 'noreferrer' }, url) : url;
}

const clock = new Intl.DateTimeFormat([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
const day = new Intl.DateTimeFormat([], { month: 'short', day: 'numeric' });

/** The time of a start; of another day than today's that too. */
export function dayAndTime(start) {
  const at = new Date(start);
  const time = clock.format(at);
  return at.toDateString() === new Date().toDateString() ? time : `${day.format(at)} ${time}`;
}

/** Nanoseconds for people. */
export function duration(ns) {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(2)} s`;
  if (ns >= 1e6) return `${(ns / 1e6).toFixed(ns >= 1e8 ? 0 : 1)} ms`;
  return `${(ns / 1e3).toFixed(0)} µs`;
}

export function bytes(count) {
  if (count >= 1e6) return `${(count / 1e6).toFixed(1)} MB`;
  return count >= 1e3 ? `${(count / 1e3).toFixed(1)} kB` : `${count} bytes`;
}
