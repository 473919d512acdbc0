/** The body of a raw HTTP/1.1 message without its transfer coding; of one that is cut off, what there is. */
export function rawBody(raw: Buffer): Buffer {
  const end = raw.indexOf('\r\n\r\n');
  if (end < 0) return Buffer.alloc(0);
  const body = raw.subarray(end + 4);
  const head = raw.toString('latin1', 0, end);
  return /^transfer-encoding:.*\bchunked\b/im.test(head) ? unchunked(body) : body;
}

function unchunked(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = body.indexOf('\r\n', at);
    const size = lineEnd < 0 ? 0 : Number.parseInt(body.toString('latin1', at, lineEnd), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
