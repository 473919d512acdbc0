import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { silentLog } from '../../src/common/log.ts';
import { systemRuntime } from '../../src/common/runtime.ts';
import { KubeClient } from '../../src/operator/kube/client.ts';
import { connect, type KubeConnection } from '../../src/operator/kube/connection.ts';
import type { KubeObject } from '../../src/operator/kube/types.ts';
import { References } from '../../src/operator/reconcile/referents/references.ts';
import { Referents } from '../../src/operator/reconcile/referents/referents.ts';
import { startTestKubeApi, type TestKubeApi } from '../support/kube-api.ts';
import { until } from '../support/until.ts';
import { secretType as secrets } from '../support/world.ts';

/* Secrets that resources refer to: followed one by one, whatever else lies in the cluster. */

const secret = (name: string, value: string): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'default' },
    stringData: { key: value },
  }) as KubeObject;

let kube: TestKubeApi;
let connection: KubeConnection;
let client: KubeClient;
let received: number;
let woken: string[];
let references: References;
let referents: Referents;

beforeAll(async () => {
  kube = await startTestKubeApi();
  connection = await connect({ ...systemRuntime, kubeconfig: kube.kubeconfig, userAgent: 'test', log: silentLog });
  client = new KubeClient(connection, systemRuntime);
});
afterAll(async () => {
  await connection.close();
  await kube.stop();
});
beforeEach(() => {
  received = 0;
  woken = [];
  const reader = new KubeClient(counting(connection), systemRuntime);
  referents = new Referents({ ...systemRuntime, reader, log: silentLog, namespaces: [] });
  references = new References({
    referents,
    enqueue: (key, initial) => initial || woken.push(key),
  });
});
afterEach(() => {
  references.close();
  referents.close();
});

/** The same connection, with what it receives counted. */
function counting(inner: KubeConnection): KubeConnection {
  return {
    server: inner.server,
    namespace: inner.namespace,
    inCluster: inner.inCluster,
    history: inner.history,
    withGuard: (guard) => inner.withGuard(guard),
    apart: () => inner.apart(),
    close: () => inner.close(),
    request: async (request) => {
      const response = await inner.request(request);
      const count = async function* () {
        for await (const chunk of response.body) {
          received += chunk.byteLength;
          yield chunk;
        }
      };
      const text = async () => {
        const body = await response.text();
        received += Buffer.byteLength(body);
        return body;
      };
      return { ...response, text, destroy: () => response.destroy(), body: count() };
    },
  };
}

const read = async (user: string, name: string, key = 'key') => {
  const session = references.session(user);
  const value = await session.read({ kind: 'Secret', name, key });
  session.end();
  return value;
};

test('a cluster full of large foreign Secrets costs nothing: only what is referred to is read', async () => {
  const foreign = Array.from({ length: 40 }, (_, index) => secret(`foreign-${index}`, 'x'.repeat(500_000)));
  for (const each of foreign) await client.create(secrets, each);
  await client.create(secrets, secret('mine', 'one'));
  expect(await read('default/a', 'mine')).toBe('one');
  await client.patch(secrets, foreign[0]?.metadata ?? { name: '' }, {
    type: 'merge',
    body: { stringData: { key: 'y' } },
  });
  await client.patch(
    secrets,
    { name: 'mine', namespace: 'default' },
    { type: 'merge', body: { stringData: { key: 'two' } } },
  );
  await until('the change', () => woken.length > 0);
  expect(await read('default/a', 'mine')).toBe('two');
  expect(received).toBeLessThan(50_000);
}, 60_000);

test('a change wakes those who refer to it, within 5 s, and nobody who does not any more', async () => {
  await client.create(secrets, secret('shared', 'one'));
  await Promise.all([read('default/a', 'shared'), read('default/b', 'shared'), read('default/c', 'shared')]);
  references.session('default/b').end();
  references.forget('default/c');
  await client.patch(
    secrets,
    { name: 'shared', namespace: 'default' },
    { type: 'merge', body: { stringData: { key: 'two' } } },
  );
  await until('the change', () => woken.length > 0, 5_000);
  expect(woken).toEqual(['default/a']);
});

test('what is missing is named, and its appearance wakes', async () => {
  await expect(read('default/a', 'later')).rejects.toThrow('Secret default/later does not exist');
  const waiting = references.session('default/a');
  await waiting.read({ kind: 'Secret', name: 'later', key: 'key' }).catch(() => {});
  waiting.end();
  await client.create(secrets, secret('later', 'here'));
  await until('the Secret', () => woken.includes('default/a'));
  expect(await read('default/a', 'later')).toBe('here');
  await expect(read('default/a', 'later', 'other')).rejects.toThrow('Secret default/later has no key "other"');
});

test('a resource can name objects of its own namespace only', async () => {
  await client.create(secrets, secret('private', 'value'));
  await expect(read('elsewhere/a', 'private')).rejects.toThrow('Secret elsewhere/private does not exist');
});
