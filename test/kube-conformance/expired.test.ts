import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '../support/until.ts';
import { type Body, type Cluster, configMap, paths, startCluster, watchUntil } from './cluster.ts';
import { widgetCrd } from './widget-crd.ts';

let cluster: Cluster;
beforeAll(async () => {
  cluster = await startCluster(widgetCrd, { forgets: true });
});
afterAll(() => cluster.stop());

const names = ({ items }: Body): string[] => items.map((item: Body) => item.metadata.name);

test('a version that is forgotten: 410 for pages, exact lists and watches; a page says how to go on', async () => {
  const path = await cluster.fresh(paths.configmaps);
  for (const name of ['a', 'b', 'c', 'd']) await cluster.send('POST', path, configMap(name));
  const first = (await cluster.send('GET', `${path}?limit=2`)).body;
  const page = (token: string) => cluster.send('GET', `${path}?limit=2&continue=${encodeURIComponent(token)}`);
  await cluster.send('DELETE', `${path}/c`);
  await cluster.send('POST', path, configMap('e'));

  const refused = await until('the page to be too old', async () => {
    const answer = await page(first.metadata.continue);
    return answer.code === 410 && answer.body;
  });
  expect(refused).toMatchObject({
    kind: 'Status',
    reason: 'Expired',
    message: expect.stringMatching(/^The provided continue parameter is too old to display a consistent list result\./),
  });
  const rest = (await page(refused.metadata.continue)).body;
  expect([names(rest), rest.metadata.continue || undefined]).toEqual([['d', 'e'], undefined]);

  const version = first.metadata.resourceVersion;
  const exact = await cluster.send('GET', `${path}?resourceVersion=${version}&resourceVersionMatch=Exact`);
  expect(exact.body).toMatchObject({
    code: 410,
    reason: 'Expired',
    message: 'The resourceVersion for the provided list is too old.',
  });
  // A compaction between the two writes above refuses a read of `version`, but not yet a watch from it: that
  // begins one version later, where the history now does. The next compaction refuses both.
  await until('the watch to be refused', async () => {
    const [event] = await watchUntil(cluster, `${path}?watch=true&resourceVersion=${version}`, () => true);
    return event?.type === 'ERROR' && event.object.code === 410 && event.object.reason === 'Expired';
  });
});
