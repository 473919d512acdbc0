import { expect, test } from '@jest/globals';
import { isKept } from '../flow.ts';
import { annotation } from '../resource/annotations.ts';
import type { Facts } from '../resource/memory.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { orphanOf } from './orphans.ts';
import { ownedIDOf } from './ownership.ts';

const flow = {
  leavesNothing: (object: ManagedObject) => isKept(object) || ownedIDOf(object) === undefined,
  leftBehind: (object: ManagedObject) => `thing ${ownedIDOf(object)}`,
};
const records = { [annotation.recordOf]: 'u', [annotation.createdID]: 'x', [annotation.installation]: 'one' };

function thing(annotations: Readonly<Record<string, string>>, spec = {}, ownership = {}): ManagedObject {
  const metadata = { namespace: 'ns', name: 'a', uid: 'u', annotations };
  return { apiVersion: 'g/v1', kind: 'Thing', metadata, spec, status: { ownership } };
}

function left(object: ManagedObject, known: Partial<Facts>, of: Parameters<typeof orphanOf>[0] = flow) {
  return orphanOf(of, object, { known, installation: () => 'one', now: 300_000 });
}

function removed(uid: string): ManagedObject {
  const object = thing(records, {}, { removedFor: uid });
  return { ...object, metadata: { ...object.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
}

test.each<[string, ManagedObject, Partial<Facts>]>([
  ['by its records', thing(records), { wasThere: true }],
  ['by what this process has on record, where they were taken too', thing({}), { wasThere: true, records }],
  ['by its status', thing({}, {}, { id: 'x', installation: 'one' }), { wasThere: true }],
  ['that was met long ago, and not written to', thing(records), { recordsOpenUntil: 300_000 }],
  ['restored, with the word that what another had was removed', removed('v'), { wasThere: true }],
  ['of which another thing was deleted', thing(records), { wasThere: true, deletedID: 'y' }],
])('what is had is left behind by one %s', (_, object, known) => {
  expect(left(object, known)).toBe('thing x');
});

test.each<[string, ManagedObject, Partial<Facts>]>([
  ['was let go', thing(records), { wasThere: true, isLetGo: true }],
  ['has nothing any more', thing(records), { wasThere: true, deletedID: 'x' }],
  ['had it removed by an earlier process', removed('u'), { wasThere: true }],
  ['never had anything', thing({}), { wasThere: true }],
  ['leaves it on purpose', thing(records, { deletionPolicy: 'Retain' }), { wasThere: true }],
  ['this process has not met', thing(records), {}],
  ['was met a while ago, as the process before may have let it go', thing(records), { recordsOpenUntil: 300_001 }],
  ['is of another installation', thing({ ...records, [annotation.installation]: 'two' }), { wasThere: true }],
  ['was taken over', thing({}, {}, { id: 'x', installation: 'two' }), { wasThere: true, records }],
])('nothing is by one that %s', (_, object, known) => {
  expect(left(object, known)).toBeUndefined();
});

test('nor by one that stands for what others made', () => {
  expect(left(thing(records), { wasThere: true }, { leftBehind: () => 'what they made' })).toBeUndefined();
});
