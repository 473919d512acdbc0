import { expect, test } from '@jest/globals';
import { accountsOf } from '../witness/accounts.ts';
import { kubeModelOf } from '../witness/kube-model.ts';
import { available, FakeWorld, operator } from '../witness/witness.fixture.ts';
import { contested } from './strangers.ts';

const path = '/edges/https/edghts_a/routes/edghtsrt_a/compression';
const spec = { edgeID: 'edghts_a', routeID: 'edghtsrt_a', compression: { enabled: true } };
const status = available(1, { ownership: { how: 'Applied', parts: ['compression'] } });
const annotations = { 'edge-operator.dev/applied-parts': 'compression' };

test.each([
  ['younger', 'cannot see it', 'b', ['elder', 'younger'], true],
  ['one as old', 'cannot see it', 'b', ['elder', 'even'], true],
  ['younger', 'sees it', 'a,b', ['elder', 'younger'], false],
  ['younger', 'sees it, and whoever has the elder one does not see that', 'b', ['younger', 'elder'], false],
])('a module that the %s of two has too, whose installation %s', async (age, _, watchNamespaces, names, isSo) => {
  const world = new FakeWorld({ installations: [{ name: 'op' }, { name: 'two', settings: { watchNamespaces } }] });
  // From the beginning.
  accountsOf(world);
  kubeModelOf(world);
  const [mine] = names;
  for (const name of names.toSorted()) {
    const [namespace, by] = name === mine ? ['a', operator] : ['b', 'two-0.0'];
    await world.write('HttpsRouteModules', name, { namespace, spec, annotations });
    if (age === 'younger') await world.pass(1_000);
    await world.write('HttpsRouteModules', name, { namespace, by, status });
  }
  expect(contested(world).has(path)).toBe(isSo);
});
