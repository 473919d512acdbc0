import { type ShownBody, shownContent } from '../../../agent/inspector/body.ts';
import type { CapturedRequest } from '../../../operator/agent-client/schemas.ts';
import { table } from '../../table.ts';
import { duration } from './duration.ts';
import { printable, printableLines } from './printable.ts';
import { rawBody } from './raw-body.ts';

/** What a request and a response have in common. */
interface WireMessage {
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly raw: string;
  readonly [more: string]: unknown;
}

/** One captured exchange with headers and decoded bodies, safe for a terminal. */
export function showCapturedRequest(captured: CapturedRequest): string {
  const { request, response } = captured;
  const parts = [
    facts(captured),
    message(`${request.method} ${request.uri} ${request.proto}`, request),
    response === null ? '(no answer yet)' : message(`${response.proto} ${response.status}`, response),
  ];
  return `${parts.join('\n\n')}\n`;
}

function facts(captured: CapturedRequest): string {
  const { id, tunnel_name: tunnel, remote_addr: from, start, replay_of: replayOf, error } = captured;
  const rows = [
    ['ID', id],
    ['Tunnel', tunnel],
    ['From', from],
    ['Start', start],
    ['Duration', duration(captured.duration)],
    ['Replay of', typeof replayOf === 'string' ? replayOf : ''],
    ['Error', typeof error === 'string' ? error : ''],
  ];
  return table(rows.filter(([, value]) => value !== '').map((row) => row.map(printable))).join('\n');
}

function message(startLine: string, { headers, raw, truncated }: WireMessage): string {
  const lines = Object.entries(headers).flatMap(([name, values]) => values.map((value) => `${name}: ${value}`));
  const head = [startLine, ...lines].map(printable).join('\n');
  const content = shownContent(rawBody(Buffer.from(raw, 'base64')), {
    contentType: valuesOf(headers, 'content-type'),
    coding: valuesOf(headers, 'content-encoding'),
    truncated: truncated === true,
  });
  const body = bodyText(content);
  return body === '' ? head : `${head}\n\n${body}`;
}

function bodyText({ text, encoding, size, decoded, problem, truncated }: ShownBody): string {
  if (size === 0) return truncated ? '(cut off before the body)' : '';
  const notes = [
    ...(encoding === 'base64' ? [`${size} bytes that are no text; -o json has them in base64`] : []),
    ...(decoded === undefined ? [] : [`${decoded} decoded`]),
    ...(problem === undefined ? [] : [problem]),
    ...(truncated ? ['cut off'] : []),
  ].map(printable);
  const note = notes.length === 0 ? [] : [`(${notes.join('; ')})`];
  return [...(encoding === 'base64' ? [] : [printableLines(text).replace(/\n$/, '')]), ...note].join('\n');
}

function valuesOf(headers: WireMessage['headers'], name: string): string {
  const found = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return found.flatMap(([, values]) => values).join();
}
