import { ApiError } from './errors.ts';

/** As messages say it. */
export const baseURLForm = 'an http or https URL without user, query and fragment';

export function isBaseURL(text: string): boolean {
  return (
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) && !hasMore(new URL(text)) && !/[?#]/.test(text)
  );
}

/** @throws TypeError for a URL that is not usable; its message does not repeat credentials. `name` is what people call it. */
export function parseBaseURL(text: string, name: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw new TypeError(`the ${name} must start with http:// or https://`);
  }
  if (hasMore(url)) {
    throw new TypeError(`the ${name} of ${url.host} must have no credentials, query or fragment`);
  }
  return url;
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
