/**
 * Watches in a process of its own, as lean as can be: `kube-watchers.ts URL TOKEN PATH COUNT`, started with an IPC
 * channel. Sends `ready` once all watches are open; sends the delays of events so far, in milliseconds, when asked.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { MarkReader, millisecondsSince } from './kube-marks.ts';

const [url = '', token = '', path = '', count = '0'] = process.argv.slice(2);
const fromNow = 'resourceVersion=0&sendInitialEvents=false&resourceVersionMatch=NotOlderThan';
let delays: number[] = [];

async function watch(): Promise<void> {
  const request = url.startsWith('https:') ? httpsRequest : httpRequest;
  const headers = { Authorization: `Bearer ${token}` };
  const sent = request(`${url}${path}?watch=true&${fromNow}`, {
    headers,
    agent: false,
    rejectUnauthorized: false,
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`watching ${path}: ${response.statusCode}`);
  const marks = new MarkReader();
  response.on('data', (chunk: Buffer) => {
    for (const moment of marks.read(chunk)) delays.push(millisecondsSince(moment));
  });
}

for (let opened = 0; opened < Number(count); opened += 1) await watch();
process.on('message', () => {
  process.send?.(delays);
  delays = [];
});
process.send?.('ready');
