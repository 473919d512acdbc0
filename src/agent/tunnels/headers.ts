import { pairs, type RawHeaders } from '../captures/message.ts';

/** Headers of one connection, not of the message (RFC 9110, section 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'transfer-encoding',
  'upgrade',
]);

export interface ForwardOptions {
  readonly method: string;
  readonly remoteAddr: string;
  /** Replaces the Host header. */
  readonly host?: string | undefined;
  /** The protocol to ask for an upgrade to. */
  readonly upgrade?: string | undefined;
}

/**
 * The headers to send on: without those of the connection, with X-Forwarded-For, -Host and -Proto, and with the
 * framing of the body. Host is kept unless replaced. The length is the last: behind it Node reads the bytes of
 * Content-Disposition as UTF-8, so that others come out, or none.
 */
export function requestHeaders(headers: RawHeaders, options: ForwardOptions): string[] {
  const out: string[] = [];
  const dropped = namedByConnection(headers);
  const length: string[] = [];
  const forwardedFor: string[] = [];
  let originalHost: string | undefined;
  let framed = false;
  let announced = false;
  let chunked = false;
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const key = name.toLowerCase();
    if (key === 'x-forwarded-for') forwardedFor.push(value);
    else if (key === 'x-forwarded-host' || key === 'x-forwarded-proto') continue;
    else if (key === 'host') {
      // A second one would let the local server go by another host than the edge did.
      if (originalHost === undefined) out.push(name, options.host ?? value);
      originalHost ??= value;
    } else if (key === 'content-length') {
      // Whatever Connection names: without it the body would be taken for the next request.
      framed = true;
      length.push(name, value);
    } else if (key === 'transfer-encoding') {
      framed = true;
      chunked = true;
      out.push(name, value);
    } else if (key === 'te' && /\btrailers\b/i.test(value)) out.push(name, 'trailers');
    else if (!hopByHop.has(key) && dropped?.has(key) !== true) {
      announced ||= key === 'trailer';
      out.push(name, value);
    }
  }
  out.push('X-Forwarded-For', [...forwardedFor, options.remoteAddr].join(', '), 'X-Forwarded-Proto', 'http');
  if (originalHost !== undefined) out.push('X-Forwarded-Host', originalHost);
  if (options.upgrade !== undefined) out.push('Connection', 'Upgrade', 'Upgrade', options.upgrade);
  else if (!framed && !hasNoBodyByNature(options.method)) out.push('Content-Length', '0');
  out.push(...length);
  return announced && !chunked ? withoutTrailer(out) : out;
}

/** What of a response's headers goes on to the client; the length is the last, as in requests. */
export function responseHeaders(headers: RawHeaders): string[] {
  const out: string[] = [];
  const length: string[] = [];
  const dropped = namedByConnection(headers);
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]];
    const key = name.toLowerCase();
    if (hopByHop.has(key) || dropped?.has(key)) continue;
    (key === 'content-length' ? length : out).push(name, value);
  }
  out.push(...length);
  return out;
}

/** For a message that no trailers can follow: Node refuses to write one that announces them. */
export function withoutTrailer(headers: RawHeaders): string[] {
  return pairs(headers)
    .filter(([name]) => name.toLowerCase() !== 'trailer')
    .flat();
}

/** Undefined when it names none, as nearly always. */
function namedByConnection(headers: RawHeaders): ReadonlySet<string> | undefined {
  let named: Set<string> | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    const value = headers[at + 1] ?? '';
    if (headers[at]?.toLowerCase() !== 'connection' || /^(keep-alive|close)$/i.test(value)) continue;
    named ??= new Set();
    for (const name of value.split(',')) named.add(name.trim().toLowerCase());
  }
  return named;
}

/** Without a length Node would send an empty chunked body for the other methods. */
const hasNoBodyByNature = (method: string): boolean => ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'].includes(method);
