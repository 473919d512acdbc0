import { expect, test } from '@jest/globals';
import { doubtOf } from '../external/census.ts';
import type { KindController } from '../kind-controller.ts';
import { finalizer } from '../resource/annotations.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { Dependents } from './dependents.ts';
import type { Which } from './registry.ts';

const resource = (name: string, status: 'True' | 'False'): ManagedObject => ({
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'Thing',
  metadata: { name, namespace: 'ns' },
  spec: { managementPolicy: 'Manage' },
  status: { conditions: [{ type: 'Ready', status, reason: 'x', message: '', lastTransitionTime: '' }] },
});

test.each<[Which, Record<string, 'news' | 'no news'>]>([
  ['all', { fine: 'news', troubled: 'news' }],
  ['unready', { troubled: 'news' }],
  ['met', { fine: 'no news', troubled: 'news' }],
])('%s of the users of one account are asked for', (which, expected) => {
  const users = [resource('fine', 'True'), resource('troubled', 'False')];
  const asked: Record<string, string> = {};
  const kind = {
    leavesNothing: true,
    resources: { addIndex: () => {}, byIndex: (_: string, key: string) => (key === 'ns/account' ? users : []) },
    enqueue: (these, isNews = () => true) => {
      for (const user of these) asked[user.metadata.name ?? ''] = isNews(user) ? 'news' : 'no news';
    },
  } satisfies Partial<Omit<KindController, 'resources'>> & { resources: object };
  const dependents = new Dependents({
    kinds: [kind as unknown as KindController],
    usedBy: () => 'ns/account',
    client: undefined as never,
    onNews: () => {},
  });
  dependents.enqueue('ns/account', which);
  dependents.enqueue('ns/none', which);
  expect(asked).toEqual(expected);
});

test('an account is held by what has something to remove through it, and not by what others still hold', async () => {
  const [made, over] = [resource('made', 'True'), resource('over', 'True')];
  const deletionTimestamp = '2030-01-01T00:00:00Z';
  const held = { ...made, metadata: { ...made.metadata, deletionTimestamp, finalizers: [finalizer] } };
  const released = { ...over, metadata: { ...over.metadata, deletionTimestamp, finalizers: ['other'] } };
  let users = [held, released];
  const kind = { leavesNothing: false, resources: { addIndex: () => {}, onChange: () => {}, byIndex: () => users } };
  const dependents = new Dependents({
    kinds: [kind as unknown as KindController],
    usedBy: () => 'ns/account',
    client: { listAll: async () => ({ items: users }) } as never,
    onNews: () => {},
  });
  expect(await dependents.of(resource('account', 'True'))).toEqual([held]);
  users = [released];
  expect(await dependents.of(resource('account', 'True'))).toEqual([]);
});

test('an account is told of what goes, and of what says otherwise, or for the first time, that much of it is missing', () => {
  const none = { present: 0, missing: 0, vouching: 0 };
  const message = doubtOf({ before: { ...none, missing: 2 }, made: none }) ?? '';
  const fine = resource('a', 'True');
  const [ready] = fine.status?.conditions ?? [];
  const inDoubt = { ...fine, status: { conditions: ready === undefined ? [] : [{ ...ready, message }] } };
  let change: (change: object) => void = () => {};
  const onChange = (heard: typeof change) => {
    change = heard;
  };
  const resources = { addIndex: () => {}, onChange };
  const news: string[] = [];
  new Dependents({
    kinds: [{ leavesNothing: false, resources } as unknown as KindController],
    usedBy: () => 'ns/account',
    client: undefined as never,
    onNews: (key) => void news.push(key),
  });
  const told = (type: string, object: ManagedObject, old?: ManagedObject) => {
    news.length = 0;
    change({ type, object, old });
    return news.length;
  };
  expect([told('add', fine), told('update', fine, fine), told('update', inDoubt, inDoubt)]).toEqual([0, 0, 0]);
  expect([told('add', inDoubt), told('update', inDoubt, fine), told('update', fine, inDoubt)]).toEqual([1, 1, 1]);
  expect(told('delete', fine)).toBe(1);
});
