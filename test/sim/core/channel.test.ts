import { beforeEach, expect, test } from '@jest/globals';
import { Channel, merged } from './channel.ts';
import { Scheduler } from './scheduler.ts';

let scheduler: Scheduler;
let channel: Channel;
let seen: string[];

beforeEach(() => {
  scheduler = new Scheduler();
  seen = [];
  const onText = (text: string) => seen.push(`${text} at ${scheduler.now}`);
  channel = new Channel({ scheduler, latencyMs: 10, onText, arrive: (what) => what() });
});

test('what lags keeps its order, also with what comes after the lag', async () => {
  const end = channel.lag(100);
  channel.send('a');
  end();
  channel.send('b');
  await scheduler.run(1_000);
  expect(seen).toEqual(['a at 110', 'b at 110']);
});

test('of several holds the last to end counts', async () => {
  const [first, second] = [channel.hold(), channel.hold()];
  channel.send('a');
  first();
  first();
  scheduler.after(50, second);
  await scheduler.run(1_000);
  expect(seen).toEqual(['a at 60']);
});

const line = (type: string, uid: string, version: number) =>
  `${JSON.stringify({ type, object: { metadata: { uid, resourceVersion: String(version) } } })}\n`;

test('merged, each object is shown once, as it was last', async () => {
  const end = channel.merge(40);
  channel.send(line('ADDED', 'a', 1) + line('MODIFIED', 'b', 2));
  channel.send(line('MODIFIED', 'a', 3) + line('MODIFIED', 'b', 4));
  await scheduler.run(100);
  expect(seen).toEqual([`${line('ADDED', 'a', 3)}${line('MODIFIED', 'b', 4)} at 50`]);
  channel.send(line('DELETED', 'b', 5));
  end();
  await scheduler.run(200);
  expect(seen[1]).toBe(`${line('DELETED', 'b', 5)} at 110`);
});

test('an object and its namesake are two', () => {
  const text = line('DELETED', 'a', 1) + line('ADDED', 'b', 2);
  expect(merged(text)).toBe(text);
});
