import { expect, test } from '@jest/globals';
import { silentLog } from '../../src/common/log.ts';
import { ObjectStore } from '../../src/operator/controller/store.ts';
import { versionOf } from '../../src/operator/controller/version.ts';
import { definitions } from '../../src/operator/kinds/index.ts';
import { keyOf } from '../../src/operator/kube/types.ts';
import { informersOf } from '../../src/operator/reconcile/resource/informers.ts';
import type { ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import { testRuntime } from '../support/in-memory.ts';
import { until } from '../support/until.ts';
import { kindCases, specOf } from './kinds.ts';
import { useStage } from './stage.ts';

/* What an API server tells of an object at one version is the same however it tells: else every list would be full of news. */

const stage = useStage();

test.each(kindCases)('a list of $kind brings no news of what events and answers told', async (row) => {
  const { kind, externals } = row;
  const { world, namespace, parents } = stage;
  const type = definitions.find((definition) => definition.type.kind === kind)?.type;
  if (type === undefined) throw new Error(`no definition of ${kind}`);
  const stop = new AbortController();
  const follow = async () => {
    const informers = informersOf(type, { ...testRuntime, reader: world.client, namespaces: [namespace] }, silentLog);
    void informers.run(stop.signal);
    await informers.whenSynced(stop.signal);
    return informers;
  };
  const early = await follow();
  const spec = { ...specOf(row, parents, externals), resyncIntervalSeconds: 3_600 };
  const object = await world.reason(await world.apply(kind, namespace, 'a', spec), 'Available');
  const annotated = () => world.annotate(object, { note: 'by an answer' });
  const written = await early.write(keyOf(object), annotated);
  const late = await follow();
  const [told, listed] = await until('both to know the same version', () => {
    const both = [early, late].map((informers) => informers.get(keyOf(object)) as ManagedObject);
    const [first, second] = both;
    return first && second && versionOf(first) === versionOf(second) && versionOf(first) >= versionOf(written) && both;
  });
  stop.abort();
  const store = new ObjectStore<ManagedObject>();
  store.upsert(told as ManagedObject);
  expect(store.replace([listed as ManagedObject], versionOf(written))).toEqual([]);
});
