import type { RequestHead } from '../captures/capture.ts';

/**
 * Why a request, though Node's parser takes it, leaves a doubt what it is for or where it ends: the local server could
 * make another one of it than this agent did (RFC 9112, sections 3.2 and 6.1).
 */
export function malformation({ httpVersion, rawHeaders }: Pick<RequestHead, 'httpVersion' | 'rawHeaders'>) {
  let hosts = 0;
  let coding: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase();
    if (name === 'host') hosts += 1;
    else if (name === 'transfer-encoding') coding = rawHeaders[at + 1];
  }
  if (hosts > 1) return 'The request has more than one Host header.';
  if (coding === undefined) return undefined;
  if (httpVersion === '1.0') return 'HTTP/1.0 has no Transfer-Encoding.';
  return /(^|,)[ \t]*chunked$/i.test(coding) ? undefined : 'The last Transfer-Encoding must be chunked.';
}
