import { expect, test } from '@jest/globals';
import { OneAtATime } from './one-at-a-time.ts';

test('what has one name is done in order, and what has another waits for none of it', async () => {
  const each = new OneAtATime();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const piece = (name: string, what: string, until: Promise<unknown> = Promise.resolve()) =>
    each.run(name, async () => {
      await until;
      done.push(what);
    });
  const failing = first.promise.then(() => Promise.reject(new Error('no')));
  const all = [piece('a', 'never', failing), piece('a', 'second'), piece('a', 'third')];
  await piece('b', 'other');
  expect(done).toEqual(['other']);
  first.resolve();
  expect((await Promise.allSettled(all)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(done).toEqual(['other', 'second', 'third']);
});

test('whoever gives up is not waited for, and the next one waits for those before it still', async () => {
  const each = new OneAtATime();
  const done: string[] = [];
  const first = Promise.withResolvers<void>();
  const stop = new AbortController();
  const one = each.run('a', () => first.promise);
  const given = each.run('a', async () => done.push('given up'), stop.signal);
  const next = each.run('a', async () => done.push('next'));
  stop.abort(new Error('no more'));
  await expect(given).rejects.toThrow('no more');
  expect(done).toEqual([]);
  first.resolve();
  await Promise.all([one, next]);
  expect(done).toEqual(['next']);
});
