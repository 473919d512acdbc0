import { beforeEach, expect, test } from '@jest/globals';
import { KubeError } from '../../kube/errors.ts';
import { CurrentResource } from './current-resource.ts';
import type { ManagedObject } from './resource.ts';
import type { ObjectWriter } from './writer.ts';

const read: ManagedObject = {
  apiVersion: 'edge-operator.dev/v1alpha1',
  kind: 'BotUser',
  metadata: { name: 'a', namespace: 'ns', uid: 'u', resourceVersion: '1' },
  spec: {},
};
/** What each write was based on. */
let bases: (string | undefined)[];
let resource: CurrentResource;
let writer: Partial<ObjectWriter>;

beforeEach(() => {
  bases = [];
  const write = async ({ metadata }: ManagedObject): Promise<ManagedObject> => {
    bases.push(metadata.resourceVersion);
    return { ...read, metadata: { ...read.metadata, resourceVersion: `${bases.length + 1}` } };
  };
  const end = async (object: ManagedObject) => void (await write(object));
  writer = { record: write, annotate: write, confirm: write, insist: write, writeStatus: write };
  Object.assign(writer, { removeFinalizer: end, delete: end });
  resource = new CurrentResource(read, writer as ObjectWriter);
});

test('every write is based on the one before, and the resource is what the last one left', async () => {
  await resource.hold();
  await resource.record({});
  await resource.annotate({});
  await resource.insist(() => ({}));
  await resource.writeStatus({});
  expect(resource.object.metadata.resourceVersion).toBe('6');
  await resource.release();
  expect(bases).toEqual(['1', '2', '3', '4', '5', '6']);
});

test('a write that failed leaves it as it was', async () => {
  const failing = new CurrentResource(read, { record: () => Promise.reject(new Error('no')) } as never);
  await expect(failing.hold()).rejects.toThrow('no');
  expect(failing.object).toBe(read);
});

test('that it is there is made sure of once in each reconcile that has not written to it', async () => {
  const facts = {};
  const next = () => new CurrentResource(read, writer as ObjectWriter, facts);
  for (let n = 1; n <= 2; n += 1) {
    const current = next();
    for (let times = 0; times < 2; times += 1) await current.confirm();
    expect([bases, facts]).toEqual([Array(n).fill('1'), { wasThere: true }]);
  }
  const written = next();
  await written.annotate({});
  await written.confirm();
  expect(bases).toEqual(['1', '1', '1']);
});

test.each([
  [403, { wasThere: true }, true],
  [403, {}, false],
  [500, { wasThere: true }, false],
])('where reading it is answered by %d, it is there for who has met it: %j', async (status, facts, isThere) => {
  const error = new KubeError('getting', {
    status,
    reason: status === 403 ? 'Forbidden' : 'InternalError',
    message: 'no',
  });
  const failing = { ...writer, confirm: () => Promise.reject(error) };
  const confirmed = new CurrentResource(read, failing as unknown as ObjectWriter, facts).confirm();
  await (isThere ? expect(confirmed).resolves.toBeUndefined() : expect(confirmed).rejects.toBe(error));
});

test('what was read since is what the next write is based on', async () => {
  resource.take({ ...read, metadata: { ...read.metadata, resourceVersion: '7' } });
  await resource.delete();
  expect([bases, resource.uid]).toEqual([['7'], 'u']);
});
