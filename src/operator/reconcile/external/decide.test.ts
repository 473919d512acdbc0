import { describe, expect, test } from '@jest/globals';
import { type Action, decide, type Situation } from './decide.ts';

const managed: Situation = {
  displayName: 'bot user',
  managementPolicy: 'Manage',
  id: 'bot_1',
  imported: false,
  owned: true,
  exists: true,
  differences: [],
};

type Expected = Action['kind'] | `stop ${string}`;

describe('decide', () => {
  const cases: readonly [why: string, given: Partial<Situation>, expected: Expected][] = [
    ['nothing differs', {}, 'none'],
    ['nothing was ever created', { id: undefined, exists: false }, 'create'],
    ['what we created vanished', { exists: false }, 'create'],
    [
      'what a person imported vanished: a new one would not be what they named',
      { exists: false, imported: true },
      'stop ExternalNotFound',
    ],
    ['a field differs', { differences: [{ field: 'name' }] }, 'update'],
    [
      'an imported object differs: it is managed all the same',
      { imported: true, differences: [{ field: 'name' }] },
      'update',
    ],
    [
      'a field that cannot be changed differs',
      { differences: [{ field: 'region', immutable: 'eu' }, { field: 'name' }] },
      'stop Rejected',
    ],
    ['Observe, nothing named', { managementPolicy: 'Observe', id: undefined, exists: false }, 'stop ExternalNotFound'],
    ['Observe, not there', { managementPolicy: 'Observe', exists: false }, 'stop ExternalNotFound'],
    ['Observe, it differs', { managementPolicy: 'Observe', differences: [{ field: 'name' }] }, 'stop DriftDetected'],
    ['Observe, nothing differs', { managementPolicy: 'Observe' }, 'none'],
  ];
  test.each(cases)('%s', (_why, given, expected) => {
    const action = decide({ ...managed, ...given });
    expect(action.kind === 'stop' ? `stop ${action.reason}` : action.kind).toBe(expected);
  });

  test('an update names the fields that differ and no others', () => {
    const action = decide({ ...managed, differences: [{ field: 'name' }, { field: 'active' }] });
    expect(action).toEqual({ kind: 'update', fields: ['name', 'active'] });
  });

  test('a message names the id, the field and what can be done: the spec cannot be changed either', () => {
    const action = decide({ ...managed, differences: [{ field: 'region', immutable: 'eu' }] });
    const message = expect.stringMatching(/bot_1.*spec\.region is eu.*delete this resource.*create/);
    expect(action).toMatchObject({ message });
  });

  test.each([
    ['Manage', 'external-id, remove it to create one, or delete this resource and create another'],
    ['Observe', 'external-id, or delete this resource and create another'],
  ] as const)('of an import that is not there under %s: %s', (managementPolicy, orElse) => {
    const action = decide({ ...managed, managementPolicy, imported: true, owned: false, exists: false });
    expect(action).toMatchObject({ message: expect.stringContaining(orElse) });
  });
});
