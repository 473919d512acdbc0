import { expect, test } from '@jest/globals';
import { Successions } from './successions.ts';

type Run = ReturnType<typeof run>;

function run(told: string[], name: string) {
  const ended = Promise.withResolvers<void>();
  const begin = async () => {
    told.push(`${name} begins`);
    await ended.promise;
    told.push(`${name} ends`);
  };
  return { begin, end: ended.resolve };
}

test('runs of one key follow one another, those of others do not wait', async () => {
  const told: string[] = [];
  const [a, b, other] = ['a', 'b', 'other'].map((name) => run(told, name)) as [Run, Run, Run];
  const runs = new Successions();
  runs.begin('x', a.begin);
  runs.begin('x', b.begin);
  runs.begin('y', other.begin);
  other.end();
  await runs.end('y');
  expect(told).toEqual(['a begins', 'other begins', 'other ends']);
  a.end();
  b.end();
  await runs.end('x');
  expect(told.slice(3)).toEqual(['a ends', 'b begins', 'b ends']);
});

test('what has ended is not kept, what follows it is', async () => {
  const [a, b] = [run([], 'a'), run([], 'b')];
  const runs = new Successions();
  runs.begin('x', a.begin);
  runs.begin('x', b.begin);
  a.end();
  await new Promise(setImmediate);
  expect(runs.keys()).toEqual(['x']);
  b.end();
  await runs.end('x');
  expect(runs.keys()).toEqual([]);
});
