import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { KubeObject } from '../../src/operator/kube/types.ts';
import { annotation } from '../../src/operator/reconcile/resource/annotations.ts';
import { hasKubectl, kubectlArgs } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { namespaceType, startWorld, type World } from '../support/world.ts';

/*
 * What people see of resources: the commands of docs/kubectl.md, run with kubectl against the real operator, show what
 * stands there. `npm run record:statuses` writes it anew.
 */

const page = join(import.meta.dirname, '../../docs/kubectl.md');
const recording = process.env.RECORD_STATUSES === '1';
const namespace = 'team';

interface Block {
  readonly command: string;
  readonly output: string;
}

const pattern = /```console\n\$ kubectl (.*)\n([^`]*)```/g;
const blocks = (): readonly Block[] =>
  [...readFileSync(page, 'utf8').matchAll(pattern)].map(([, command = '', output = '']) => ({ command, output }));

let world: World;
let shown: ReadonlyMap<string, string>;

(hasKubectl ? describe : describe.skip)('docs/kubectl.md', () => {
  beforeAll(async () => {
    world = await startWorld();
    world.startOperator();
    await story();
    const texts = blocks().map(async ({ command }) => [command, settled(await kubectl(command))] as const);
    shown = new Map(await Promise.all(texts));
    if (recording) record();
  });
  afterAll(() => world?.stop());

  test('has commands', () => expect(blocks().length).toBeGreaterThan(3));

  test.each(blocks())('$command', ({ command, output }) => {
    expect(shown.get(command)).toBe(recording ? shown.get(command) : output);
  });
});

/** A team that made this and that, and what became of it. One after another, so that ids and ports are the same every time. */
async function story(): Promise<void> {
  await world.client.create<KubeObject>(namespaceType, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  world.cloud.seed({ https_edges: [{ id: 'edghts_1', routes: ['edghtsrt_1'] }] });
  await world.give('Secret', namespace, 'key', { 'api-key': world.cloud.apiKey });
  const account = await world.apply('CloudAccount', namespace, 'staging', {
    apiKeySecretRef: { name: 'key', key: 'api-key' },
  });
  await world.reason(account, 'Available');
  const accountRef = { name: 'staging' };
  const db = await world.apply('ReservedAddr', namespace, 'db', { accountRef, region: 'eu', description: 'Postgres' });
  const { id } = (await world.reason(db, 'Available')).status as { id: string };
  await world.cloud.call('PATCH', `/reserved_addrs/${id}`, { description: 'by hand' });
  await world.annotate(db, { [annotation.reconcileAt]: '1' });
  await world.eventsOf(db, 'DriftCorrected');
  const settings = { accountRef, endpointConfigurationID: 'ec_none' };
  const refused = await world.apply('ReservedAddr', namespace, 'cache', settings);
  await world.reason(refused, 'Rejected');
  await world.eventsOf(refused, 'Failed');
  const bot = await world.apply('BotUser', namespace, 'deployer', { name: 'deployer', accountRef: { name: 'prod' } });
  await world.reason(bot, 'DependencyNotReady');
  const modules = await world.apply('HttpsRouteModules', namespace, 'hooks', {
    ...{ accountRef, edgeID: 'edghts_1', routeID: 'edghtsrt_1' },
    compression: {},
    ipRestriction: { ipPolicyIDs: ['ipp_none'] },
  });
  await world.reason(modules, 'Rejected');
  const paused = { [annotation.paused]: 'true' };
  await world.reason(
    await world.apply('BotUser', namespace, 'nightly', { name: 'nightly', accountRef }, paused),
    'Paused',
  );
  await until('every event', async () => (await world.events(db)).length === 2);
}

async function kubectl(command: string): Promise<string> {
  const args = [...command.split(' '), ...kubectlArgs(world.kube)];
  return (await promisify(execFile)('kubectl', args)).stdout;
}

/** Without what differs from run to run; everything keeps its length, so that columns stay. */
function settled(text: string): string {
  const ids = [...new Set(text.match(/\b[a-z]+_[0-9A-Za-z]{27}\b/g))];
  const numbered = ids.reduce(
    (result, id, index) => result.replaceAll(id, `${id.split('_')[0]}_${String(index + 1).repeat(27)}`),
    text,
  );
  return numbered
    .replace(/127\.0\.0\.1:\d{5}/g, '127.0.0.1:20000')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '2026-01-01T00:00:00Z')
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '00000000-0000-0000-0000-000000000000')
    .replace(/(Resource Version: +)\d+/g, '$1100')
    .replace(/(Installation: +)\S+/gi, '$1default-00000000')
    .replace(/(installation: +)\S+/g, '$1default-00000000')
    .replace(/(key-mark: +)\S+/g, '$10000-00000000')
    .replace(/\b\d{1,2}s\b/g, (age) => '9s'.padEnd(age.length))
    .replace(/ +$/gm, '');
}

function record(): void {
  const text = readFileSync(page, 'utf8');
  const written = text.replaceAll(
    pattern,
    (_, command) => `\`\`\`console\n$ kubectl ${command}\n${shown.get(command)}\`\`\``,
  );
  writeFileSync(page, written);
}
