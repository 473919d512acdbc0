import type { Message } from '../captures/message.ts';
import type { TimeSlice } from '../time-slice.ts';
import { typeOf } from './body.ts';
import { charsetOf } from './charset.ts';
import { decode, isCoded } from './codings.ts';

/** Of a packed body: what is longer would take too long. */
const limitMiB = 1;
/** Some tenths of a millisecond each. */
const pieceBytes = 65_536;
const noText = /^(image\/(?!svg)|audio|video|font|application\/(octet-stream|zip|gzip|pdf|wasm))/i;

/** Those of the texts, in lower case, that the body does not hold, as text and without its content coding. */
export async function missingInBody(
  message: Message | undefined,
  texts: readonly string[],
  slice: TimeSlice,
): Promise<readonly string[]> {
  if (message === undefined || message.bodyBytes === 0 || texts.length === 0) return texts;
  const { contentType, coding } = typeOf(message);
  if (noText.test(contentType)) return texts;
  const unpacked = isCoded(coding) ? decode(message.body(), coding, limitMiB) : undefined;
  if (unpacked?.problem !== undefined) return texts;
  const chunks = unpacked === undefined ? message.chunks : [unpacked.bytes];
  const overlap = Math.max(...texts.map(({ length }) => length)) - 1;
  const decoder = new TextDecoder(charsetOf(contentType) ?? 'utf-8');
  let missing = texts;
  let tail = '';
  for (const piece of pieces(chunks)) {
    if (slice.isOver) await slice.next();
    const text = tail + decoder.decode(piece, { stream: true }).toLowerCase();
    missing = missing.filter((one) => !text.includes(one));
    if (missing.length === 0) break;
    tail = overlap === 0 ? '' : text.slice(-overlap);
  }
  return missing;
}

function* pieces(chunks: readonly Buffer[]): Generator<Buffer> {
  for (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
}
