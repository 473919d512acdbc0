import { expect, test } from '@jest/globals';
import { Dependents } from './dependents.ts';
import type { KindController } from './kind-controller.ts';
import type { Which } from './registry.ts';
import type { ManagedObject } from './resource.ts';

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
    onReleased: () => {},
  });
  dependents.enqueue('ns/account', which);
  dependents.enqueue('ns/none', which);
  expect(asked).toEqual(expected);
});
