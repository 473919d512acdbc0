import { ApiError } from './errors.ts';

/** What people most likely mean where they leave it out. */
type Scheme = 'https' | 'http';

const formOf = (scheme: Scheme) => `write ${scheme}://host[:port][/path], without user, query or fragment`;

/** What to write where a base URL is asked for. */
export const baseURLForm = formOf('https');

const beginning = /^https?:\/\//i;
/** Has nothing in it that could be a secret. */
const plainAddress = /^[\w.-]+(:\d{1,5})?(\/[\w./~-]*)?$/;

/** A query or fragment, though it be empty; and what URLs drop without a word, or escape. */
const noPart = /[?#\s\p{Cc}]/u;

/** Why it is no base URL, and what to write instead; undefined for one. Credentials are not repeated. */
export function baseURLProblem(text: string, scheme: Scheme = 'https'): string | undefined {
  if (!beginning.test(text)) {
    const instead = plainAddress.test(text) ? `write ${scheme}://${text}` : formOf(scheme);
    return `must begin with https:// or http://: ${instead}`;
  }
  const url = URL.parse(text);
  return url === null || hasMore(url) || noPart.test(text) ? `is no usable URL: ${formOf(scheme)}` : undefined;
}

/** @throws TypeError for a URL that is not usable; its message does not repeat credentials. `name` is what people call it. */
export function parseBaseURL(text: string, name: string, scheme?: Scheme): URL {
  const problem = baseURLProblem(text, scheme);
  if (problem !== undefined) throw new TypeError(`the ${name} ${problem}`);
  return new URL(text);
}

/** The port that requests go to; `URL.port` leaves out the default one of the scheme. */
export function portOf({ protocol, port }: URL): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** One text for all addresses that differ in spelling only, and so lead requests to the same place. */
export function canonicalURL(text: string): string {
  const { origin = '', pathname = text } = URL.parse(text) ?? {};
  return `${origin}${pathname.replace(/%[0-9a-f]{2}/gi, unescaped).replace(/\/+$/, '')}`;
}

/** What needs no escape means the same without one (RFC 3986, 6.2.2). */
function unescaped(code: string): string {
  const character = String.fromCharCode(Number.parseInt(code.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : code.toUpperCase();
}

export function isSameURL(a: string, b: string): boolean {
  return a === b || canonicalURL(a) === canonicalURL(b);
}

function hasMore({ username, password, search, hash }: URL): boolean {
  return `${username}${password}${search}${hash}` !== '';
}

/** URLs resolve them even when encoded: nothing can be named so. */
export function isDotSegment(segment: string): boolean {
  return segment === '.' || segment === '..';
}

/**
 * Joins path segments, encoding each. Refuses one that would change which resource is addressed: empty, `.` or `..`.
 */
export function pathOf(operation: string | undefined, ...segments: readonly string[]): string {
  if (!segments.some((segment) => segment === '' || isDotSegment(segment)))
    return segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
  const message = 'not sent, a name or id is empty, "." or ".."';
  throw new ApiError(message, { operation, reason: 'Rejected', definite: true });
}
