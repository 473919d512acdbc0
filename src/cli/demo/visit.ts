import { type IncomingMessage, request } from 'node:http';
import type { LookupFunction } from 'node:net';
import { text } from 'node:stream/consumers';

/** `*.localhost` is this machine, as curl and browsers have it; not every resolver says so. */
const lookup: LookupFunction = (_, { all }, callback) => {
  if (all) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};

/** What a public URL answers; rejects unless it is 200. */
export async function visit(url: string): Promise<string> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request(url, { lookup, agent: false }, resolve).once('error', reject).end();
  });
  const body = await text(answer);
  if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}: ${body}`);
  return body.trim();
}
