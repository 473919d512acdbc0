import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ManagedObject } from '../resource/resource.ts';
import { conflictWith, foreignMessage } from './foreign.ts';
import { Neighbours } from './neighbours.ts';

let now: number;
let neighbours: Neighbours;
beforeEach(() => {
  now = 0;
  neighbours = new Neighbours(() => now);
});

/** As the other installation left it, or as this one did. */
function resource(
  uid: string,
  said: 'theirs' | 'trouble' | 'ours',
  { generation = 1, observed = 1, namespace = 'ns' } = {},
): ManagedObject {
  const [reason, message] = said === 'ours' ? ['Conflict', foreignMessage('blue', 'hands off')] : ['Available', ''];
  const ready = {
    type: 'Ready',
    status: said === 'theirs' ? 'True' : 'False',
    reason,
    message,
    observedGeneration: observed,
    lastTransitionTime: '',
  };
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: uid, namespace, uid, generation },
    spec: {},
    status: { conditions: [ready as never] },
  };
}

const ask = (...given: Parameters<typeof resource>) => neighbours.ask('blue', resource(...given)).kind;

test('it is said on one resource first, and of the others after a while in which nobody put that right', () => {
  expect([ask('a', 'theirs'), ask('b', 'theirs')]).toEqual(['now', 'after']);
  now = 20_000;
  expect([ask('a', 'ours'), ask('b', 'theirs')]).toEqual(['now', 'now']);
});

test('what could not be written was put right by nobody, and is said anew', () => {
  ask('a', 'theirs');
  neighbours.unsaid('blue', resource('a', 'theirs'));
  expect([ask('a', 'theirs'), ask('b', 'theirs')]).toEqual(['now', 'after']);
  expect(ask('a', 'theirs')).toBe('never');
  neighbours.unsaid('blue', resource('a', 'theirs'));
  expect(ask('c', 'theirs')).toBe('never');
});

test.each([0, 20_000])('who puts it right is not contradicted again (after %i ms)', (later) => {
  ask('a', 'theirs');
  now = later;
  ask('b', 'theirs');
  expect(ask(later === 0 ? 'a' : 'b', 'theirs')).toBe('never');
  now += 24 * 3_600_000;
  expect([ask('a', 'theirs'), ask('b', 'theirs'), ask('c', 'theirs')]).toEqual(['never', 'never', 'never']);
});

describe('of an installation that is at work', () => {
  beforeEach(() => {
    ask('a', 'theirs');
    ask('a', 'theirs');
  });

  test('a change that it leaves unanswered for a minute is told of', () => {
    expect(ask('b', 'theirs', { generation: 2 })).toBe('after');
    now = 59_999;
    expect(ask('b', 'theirs', { generation: 2 })).toBe('after');
    now = 60_000;
    expect(ask('b', 'theirs', { generation: 2 })).toBe('now');
  });

  test('a change that it answers is not', () => {
    ask('b', 'theirs', { generation: 2 });
    expect(ask('b', 'theirs', { generation: 2, observed: 2 })).toBe('never');
    now = 60_000;
    expect(ask('b', 'theirs', { generation: 3, observed: 2 })).toBe('after');
  });
});

describe('what it left in trouble', () => {
  const day = 86_400_000;
  beforeEach(() => {
    ask('a', 'trouble');
    now = 1_000;
    expect(ask('a', 'trouble')).toBe('after');
  });

  test('is told of after a day, and where nobody puts that right, so are the others', () => {
    now += day - 1;
    expect([ask('a', 'trouble'), ask('b', 'trouble')]).toEqual(['after', 'after']);
    now += 1;
    expect([ask('a', 'trouble'), ask('b', 'trouble')]).toEqual(['now', 'after']);
    now += 20_000;
    expect([ask('a', 'ours'), ask('b', 'trouble')]).toEqual(['now', 'now']);
  });

  test('is told of anew where that could not be written', () => {
    now += day;
    expect(ask('a', 'trouble')).toBe('now');
    neighbours.unsaid('blue', resource('a', 'trouble'));
    expect(ask('b', 'theirs')).toBe('never');
    expect([ask('a', 'trouble'), ask('a', 'trouble')]).toEqual(['now', 'after']);
    neighbours.unsaid('blue', resource('a', 'trouble'));
    expect(ask('b', 'theirs')).toBe('never');
  });

  test('is not what has been in the making for less long', () => {
    now += 2 * day;
    expect(ask('b', 'trouble')).toBe('after');
    now += day - 1;
    expect(ask('b', 'trouble')).toBe('after');
    expect(ask('b', 'theirs')).toBe('never');
    now += 1;
    expect(ask('b', 'trouble')).toBe('after');
    now += day;
    expect(ask('b', 'trouble')).toBe('now');
  });

  test('is contradicted once a day while it is put right, and never where it is Ready', () => {
    let times = 0;
    for (const until = now + 7 * day; now < until; now += 600_000) {
      expect(ask('b', 'theirs')).toBe('never');
      if (ask('a', 'trouble') !== 'now') continue;
      times += 1;
      expect(ask('a', 'trouble')).toBe('after');
    }
    expect(times).toBe(6);
  });
});

test('who is at work in one namespace may watch no other', () => {
  ask('a', 'theirs');
  ask('a', 'theirs');
  expect(ask('b', 'theirs', { namespace: 'left' })).toBe('now');
  now = 20_000;
  expect([ask('b', 'ours', { namespace: 'left' }), ask('c', 'theirs', { namespace: 'left' })]).toEqual(['now', 'now']);
  expect(ask('c', 'theirs')).toBe('never');
});

test('of those that a tenant makes up the last few are known, and who is at work is not forgotten for them', () => {
  ask('a', 'theirs');
  ask('a', 'theirs');
  const madeUp = (number: number) => neighbours.ask(`made-up-${number}`, resource('b', 'theirs')).kind;
  for (let number = 0; number < 1_000; number += 1) expect(madeUp(number)).toBe('now');
  expect([ask('a', 'theirs'), ask('c', 'theirs')]).toEqual(['never', 'never']);
  expect([madeUp(999), madeUp(0)]).toEqual(['never', 'now']);
  expect(ask('d', 'theirs', { namespace: 'another' })).toBe('now');
  for (let number = 0; number < 100; number += 1) madeUp(number);
  expect(ask('d', 'theirs', { namespace: 'another' })).toBe('never');
});

test('of one that is deleted it is said how it goes without what it stands for, and what a take-over would do', () => {
  const { metadata, ...rest } = resource('a', 'theirs');
  const deleted = { ...rest, metadata: { ...metadata, deletionTimestamp: '2026-01-02T03:04:05Z' } };
  const message = foreignMessage('blue', conflictWith('blue', deleted).message);
  expect(message).toContain('set the annotation edge-operator.dev/force-orphan to "true"');
  expect(message).toMatch(/take-over, set to blue, .* then DELETE what it made$/);
  expect(message).not.toContain('--take-over');
  const ready = { type: 'Ready', reason: 'Conflict', message } as never;
  const said = () => neighbours.ask('blue', { ...deleted, status: { conditions: [ready] } }).kind;
  expect([said(), said()]).toEqual(['now', 'now']);
});
