import { describe, expect, test } from '@jest/globals';
import { isRequested, priorityOf } from './occasion.ts';
import { annotation, isForced, isPaused } from './resource/annotations.ts';
import { Memory } from './resource/memory.ts';
import type { ManagedObject } from './resource/resource.ts';

function resource(reason: string, { generation = 1, observed = 1 } = {}): ManagedObject {
  const status = reason === 'Available' ? 'True' : 'False';
  const ready = { type: 'Ready', status, reason, message: '', observedGeneration: observed, lastTransitionTime: '' };
  return {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'a', namespace: 'ns', generation },
    spec: {},
    status: { conditions: [ready as never] },
  };
}

test.each([
  ['true', true],
  ['yes', true],
  ['until Monday', true],
  ['false', false],
  ['No', false],
  ['False ', false],
  ['', false],
])('paused and force-orphan: "%s" is a yes: %s', (value, isYes) => {
  const { metadata, ...object } = resource('Available');
  const having = (name: string, more = {}) => ({
    ...object,
    metadata: { ...metadata, ...more, annotations: { [name]: value } },
  });
  expect(isPaused(having(annotation.paused))).toBe(isYes);
  expect(isForced(having(annotation.forceOrphan, { deletionTimestamp: '2030-01-01T00:00:00Z' }))).toBe(isYes);
});

describe('what a reconcile is worth', () => {
  const facts = (realizedGeneration?: number) => ({
    ...new Memory().of('u'),
    observed: true,
    ...(realizedGeneration === undefined ? {} : { realizedGeneration }),
  });

  test.each([
    ['a check', resource('Available'), facts(1), 'resync'],
    ['an edit', resource('Available', { generation: 2 }), facts(1), 'change'],
    ['an edit that failed', resource('Unreachable', { generation: 2, observed: 2 }), facts(1), 'change'],
    ['something that was never done', resource('Unreachable'), facts(), 'change'],
    ['a check that failed: all of them do', resource('Unreachable'), facts(1), 'resync'],
    ['a check that has to wait', resource('RateLimited'), facts(1), 'resync'],
    ['a dependency that came back', resource('DependencyNotReady'), facts(1), 'change'],
  ])('%s', (_, object, known, priority) => {
    expect(priorityOf(object, known)).toBe(priority);
  });
});

test.each<[string, string | undefined, string | undefined, object, boolean]>([
  ['names none, and had none', undefined, undefined, {}, false],
  ['names what is its own', 'x', undefined, { id: 'x' }, false],
  ['names another one', 'y', undefined, { id: 'x' }, true],
  ['names what was looked for', 'y', undefined, { lastHandledExternalID: 'y' }, false],
  ['names none any more', undefined, undefined, { lastHandledExternalID: 'y' }, true],
  ['says of itself what it made, of a kind that makes nothing', undefined, 'x', {}, false],
])('a resource that %s', (_, named, made, more, asked) => {
  const { metadata, status, ...object } = resource('Available');
  const annotations = {
    ...(named !== undefined && { [annotation.externalID]: named }),
    ...(made !== undefined && { [annotation.createdID]: made, [annotation.recordOf]: 'u' }),
  };
  const its = { ...object, metadata: { ...metadata, uid: 'u', annotations }, status: { ...status, ...more } };
  expect(isRequested(its as ManagedObject)).toBe(asked);
});

test('what fails for minutes leaves the way to what is asked for now, and goes before checks', () => {
  expect(priorityOf(resource('Unreachable'), { observed: true, failing: { since: 5, at: 119_000 } })).toBe('change');
  expect(priorityOf(resource('Unreachable'), { observed: true, failing: { since: 5, at: 121_000 } })).toBe('first');
  expect(priorityOf(resource('Creating'), { failing: { since: 5, at: 121_000 } })).toBe('first');
  expect(
    priorityOf(resource('Unreachable', { generation: 2 }), { observed: true, failing: { since: 5, at: 121_000 } }),
  ).toBe('change');
});

test('a delete is a change, until it was refused', () => {
  const refusal = { reason: 'Unauthorized', message: 'no', stalled: true, at: 0, until: 0, pauseMs: 0 } as const;
  const deleted = (reason: string) => {
    const { metadata, ...object } = resource(reason);
    return { ...object, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  };
  expect(priorityOf(deleted('Available'), {})).toBe('change');
  expect(priorityOf(deleted('Unauthorized'), { refused: new Map([['delete', refusal]]) })).toBe('first');
});

test.each([
  ['names none any more, and observes the one of before', undefined, 'resync'],
  ['names another one', 'bot_new', 'change'],
])('what it is worth to look at a resource that %s', (_, id, priority) => {
  const seen = resource('Available');
  const annotations = id === undefined ? {} : { [annotation.externalID]: id };
  const object = { ...seen, metadata: { ...seen.metadata, annotations }, status: { ...seen.status, id: 'bot_old' } };
  expect(priorityOf(object, { ...new Memory().of('u'), observed: true })).toBe(priority);
});
