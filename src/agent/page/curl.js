import { base64, withoutFraming } from './dom.js';
import { quoted } from './shell.js';

/** Longer ones go through a pipe: an argument has its limit. */
const longestArgument = 65_536;
/** What curl adds unless it is told not to. */
const added = ['User-Agent', 'Accept'];

/**
 * A command line that sends the request again, to be pasted into a shell. Everything in it may come from a stranger.
 *
 * @param {{ method: string, uri: string, headers: string[], body: Uint8Array, base: string }} request
 *   `base` is the URL that the target is put behind; header values have a character for each byte
 */
export function curlLine({ method, uri, headers, body, base }) {
  const sent = withoutFraming(headers);
  const { pipe, args } = bodyArguments(body);
  const line = ['curl', ...target(uri, base), ...methodArguments(method, body), ...sent.flatMap(headerArgument)];
  const isNamed = (name) => sent.some(([other]) => other.toLowerCase() === name.toLowerCase());
  const missing = [...added, ...(body.length > 0 ? ['Content-Type'] : [])].filter((name) => !isNamed(name));
  const withheld = missing.flatMap((name) => ['-H', quoted(`${name}:`)]);
  const packed = isNamed('Accept-Encoding') ? ['--compressed'] : [];
  return pipe + [...line, ...withheld, ...packed, ...args].join(' ');
}

/** As the target is: curl would take dots out of it, and read brackets as ranges. */
function target(uri, base) {
  const isPath = uri.startsWith('/') && /^[\x21-\x7e]*$/.test(uri) && !uri.includes('#');
  const url = base + (isPath ? uri : '/');
  const asItIs = /[[\]{}]/.test(url) ? ['--globoff'] : [];
  const dots = /\/(\.|%2e){1,2}(\/|\?|$)/i.test(url) ? ['--path-as-is'] : [];
  return [...asItIs, ...dots, ...(isPath ? [] : ['--request-target', quotedBytes(uri)]), quoted(url)];
}

function methodArguments(method, body) {
  if (method === 'HEAD' && body.length === 0) return ['--head'];
  return method === (body.length > 0 ? 'POST' : 'GET') ? [] : ['-X', quoted(method)];
}

/** One without a value needs another form, or curl leaves it out. */
function headerArgument([name, value]) {
  return ['-H', value === '' ? quoted(`${name};`) : quotedBytes(`${name}: ${value}`)];
}

/** Of text that has a character for each byte, which is sent as it was. */
const quotedBytes = (text) => quoted(text, (character) => [character.charCodeAt(0)]);

/** As an argument where it is text, otherwise through a pipe: no argument can hold all bytes. */
function bodyArguments(body) {
  if (body.length === 0) return { pipe: '', args: [] };
  const text = body.length > longestArgument ? undefined : textOf(body);
  if (text !== undefined) return { pipe: '', args: ['--data-raw', quoted(text)] };
  return { pipe: `printf %s ${quoted(base64(body))} | base64 -d | `, args: ['--data-binary', '@-'] };
}

/** Not where a byte order mark or NUL would get lost. */
function textOf(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
