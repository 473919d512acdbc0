import type { Capture } from '../captures/capture.ts';
import { startOf, statusOf, tunnelKey } from './summary.ts';

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'];
const mostWords = 20;

/** What the page asks for: every word must be there. */
export interface Filter {
  /** Name of the tunnel, or the key of an unnamed one. */
  readonly tunnel: string | undefined;
  readonly methods: readonly string[];
  /** `404`, or `4xx` for a class of them. */
  readonly statuses: readonly string[];
  /** In lower case: to be found in target, headers or bodies. */
  readonly texts: readonly string[];
}

/**
 * Words apart by blanks; quotes hold a text together, and keep a word in capitals or a number from meaning a method or
 * status. Those mean nothing else: dates and lengths in headers have any number.
 */
export function readFilter(text: string, tunnel: string): Filter {
  const words = [...text.matchAll(/"([^"]*)"?|\S+/g)].slice(0, mostWords);
  const bare = words.flatMap(([word, quoted]) => (quoted === undefined ? [word] : []));
  const isStatus = (word: string) => /^[1-5](\d\d|xx)$/i.test(word);
  const others = bare.filter((word) => !methods.includes(word) && !isStatus(word));
  return {
    tunnel: tunnel === '' ? undefined : tunnel,
    methods: bare.filter((word) => methods.includes(word)),
    statuses: bare.filter(isStatus).map((word) => word.toLowerCase()),
    texts: [...others, ...words.map(([, quoted = '']) => quoted)].filter(Boolean).map((word) => word.toLowerCase()),
  };
}

/** What the start lines settle; texts are left to be looked for. */
export function startMatches(capture: Capture, { tunnel, methods: wanted, statuses }: Filter): boolean {
  if (tunnel !== undefined && tunnelKey(capture) !== tunnel) return false;
  if (wanted.length > 0 && !wanted.every((method) => startOf(capture).method === method)) return false;
  const status = String(statusOf(capture) ?? '');
  return statuses.every((one) => one === status || one === `${status.slice(0, 1)}xx`);
}

/** The texts that neither the heads nor what is known about the capture hold. */
export function missingInHeads(capture: Capture, texts: readonly string[]): readonly string[] {
  if (texts.length === 0) return texts;
  const { id, replayOf = '', remoteAddr, error = '', requestMessage, responseMessage } = capture;
  const known = [id, replayOf, remoteAddr, error, tunnelKey(capture), requestMessage.head, responseMessage?.head ?? ''];
  const text = known.join('\n').toLowerCase();
  return texts.filter((one) => !text.includes(one));
}
