import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { definitions } from '../../src/operator/kinds/index.ts';
import { finalizer } from '../../src/operator/reconcile/resource/annotations.ts';
import { conditionOf, type ManagedObject } from '../../src/operator/reconcile/resource/resource.ts';
import type { CloudAnswer } from '../support/cloud-api.ts';
import { until } from '../support/until.ts';
import { nextSecond, secretMark, startWorld, type World } from '../support/world.ts';
import { parentsOf, seedOf } from './kinds.ts';

/*
 * A tenant who may write resources of one namespace, and wants what another one has. Its resource is the older one, and is
 * paused until every record in it is forged, the uid that records count for included: nothing but its status is true.
 */

const tenantKey = `${secretMark}-of-a-tenant`;
const parents = parentsOf(1);
const module = `/edges/https/${parents.edge}/routes/${parents.route}/compression`;
const note = (name: string) => `edge-operator.dev/${name}`;

let world: World;
let number = 0;
let victimIn: string;
let thiefIn: string;
beforeAll(async () => {
  world = await startWorld({ apiKeys: [`tenant=${tenantKey}`] });
  world.cloud.seed(seedOf(parents));
  world.startOperator(['--resync-interval', '1s', '--requests-per-minute', '10000']);
});
beforeEach(async () => {
  number += 1;
  [victimIn, thiefIn] = [await world.namespace(), await world.namespace()];
  await world.give('Secret', victimIn, 'keys', { 'api-key': tenantKey });
  const account = { apiKeySecretRef: { name: 'keys', key: 'api-key' } };
  await world.reason(await world.apply('CloudAccount', victimIn, 'acct', account), 'Available');
});
afterAll(() => world.stop());

const paused = { [note('paused')]: 'true' };

/** Records as of something that the thief's resource had made. */
async function forge(thief: ManagedObject, records: Readonly<Record<string, string>>): Promise<void> {
  const type = definitions.find((definition) => definition.type.kind === thief.kind)?.type;
  const named = Object.entries({ ...records, 'record-of': thief.metadata.uid ?? '' });
  const annotations = Object.fromEntries(named.map(([name, value]) => [note(name), value]));
  const metadata = { annotations, finalizers: [finalizer] };
  await world.client.patch(type as NonNullable<typeof type>, thief.metadata, { type: 'merge', body: { metadata } });
}

const resume = (thief: ManagedObject) => world.annotate(thief, { [note('paused')]: null });

/** What anybody changed at one path; a key that knows nothing of it changes nothing. */
const changesAt = (path: string) =>
  world.cloud.requests().filter((each) => each.method !== 'GET' && each.path === path && (each.status ?? 0) < 400);

/** Deletes it as it is forged; where it says why it stays, it is let go by hand. */
async function deleted(thief: ManagedObject): Promise<void> {
  await world.delete(thief);
  await resume(thief);
  await until('the thief to be gone or refused', async () => {
    const found = await world.get(thief);
    const ready = found && conditionOf(found, 'Ready');
    const isRefused = ready?.reason === 'Rejected' || ready?.reason === 'DependencyNotReady';
    return found === undefined || (isRefused && ready.message.startsWith('deleting: '));
  });
  if ((await world.get(thief)) !== undefined) await world.annotate(thief, { [note('force-orphan')]: 'true' });
  await world.gone(thief);
}

async function seen(path: string, key: string): Promise<Pick<CloudAnswer, 'status' | 'body'>> {
  const headers = { authorization: `Bearer ${key}`, 'service-version': '2' };
  const answer = await fetch(`${world.cloud.url}${path}`, { headers });
  return { status: answer.status, body: await answer.json() };
}

describe.each(['acct', undefined])('what another namespace made with %s', (name) => {
  const accountRef = name && { accountRef: { name } };
  const key = () => (name === undefined ? world.cloud.apiKey : tenantKey);
  const accounts = () =>
    name === undefined
      ? ['default']
      : [`${victimIn}/${name}`, `CloudAccount/${name}`, `CloudAccount/../${victimIn}/${name}`];

  async function meet() {
    const spec = { name: `bot ${number}` };
    const thieves: ManagedObject[] = [];
    for (const [index] of accounts().entries()) {
      const thief = await world.apply('BotUser', thiefIn, `thief-${index}`, spec, paused);
      thieves.push(await world.reason(thief, 'Paused'));
    }
    await nextSecond(thieves.at(-1) as ManagedObject);
    const victim = await world.reason(
      await world.apply('BotUser', victimIn, 'bot', { ...spec, ...accountRef }),
      'Available',
    );
    const path = `/bot_users/${victim.status?.id}`;
    world.cloud.clearRequests();
    return { victim, thieves, path, id: String(victim.status?.id), before: await seen(path, key()) };
  }

  /** Untouched, told to nobody, and still the victim's to delete. */
  async function unharmed({ victim, path, id, before }: Awaited<ReturnType<typeof meet>>, isNamed: boolean) {
    expect(changesAt(path)).toEqual([]);
    expect(await seen(path, key())).toEqual(before);
    if (!isNamed) {
      const told = await Promise.all([world.list('BotUser', thiefIn), world.cloud.requests()]);
      expect(JSON.stringify(told[0])).not.toContain(id);
    }
    await world.delete(victim);
    await world.gone(victim);
    expect((await seen(path, key())).status).toBe(404);
  }

  test('stays, whoever deletes a resource that claims to have made it', async () => {
    const scene = await meet();
    for (const [index, account] of accounts().entries()) {
      const thief = scene.thieves[index] as ManagedObject;
      await forge(thief, { account, 'external-id': scene.id, 'created-id': scene.id });
      await deleted(thief);
    }
    await unharmed(scene, true);
  });

  test('is changed by nobody who claims to have made it', async () => {
    const scene = await meet();
    for (const [index, account] of accounts().entries()) {
      const thief = scene.thieves[index] as ManagedObject;
      await forge(thief, { account, 'external-id': scene.id, 'created-id': scene.id });
      await world.client.patch(botUsers(), thief.metadata, { type: 'merge', body: { spec: { name: 'stolen' } } });
      await resume(thief);
      const ready = await until('the thief to be refused', async () => {
        const found = await world.get(thief);
        const condition = found && conditionOf(found, 'Ready');
        return condition?.status === 'False' && condition;
      });
      expect(['Conflict', 'Rejected', 'ExternalNotFound', 'Creating']).toContain(ready.reason);
      expect(ready.message).not.toContain(victimIn);
      await world.annotate(thief, { [note('force-orphan')]: 'true' });
      await world.delete(thief);
      await world.gone(thief);
    }
    await unharmed(scene, true);
  });

  test('is adopted by no create that is said to have been lost', async () => {
    const scene = await meet();
    for (const [index, account] of accounts().entries()) {
      const thief = scene.thieves[index] as ManagedObject;
      await forge(thief, {
        account,
        'create-intent': JSON.stringify({ at: '2020-01-01T00:00:00.000Z', clock: 'own' }),
      });
      await deleted(thief);
    }
    await unharmed(scene, false);
  });
});

const botUsers = () => definitions.find(({ type }) => type.kind === 'BotUser')?.type as (typeof definitions)[0]['type'];

test('a module of another namespace stays where it is', async () => {
  const { edge: edgeID, route: routeID } = parents;
  const thief = await world.apply('HttpsRouteModules', thiefIn, 'thief', { edgeID, routeID }, paused);
  await nextSecond(await world.reason(thief, 'Paused'));
  const spec = { edgeID, routeID, compression: {} };
  const victim = await world.reason(await world.apply('HttpsRouteModules', victimIn, 'modules', spec), 'Available');
  world.cloud.clearRequests();
  await forge(thief, { account: 'default', 'applied-parts': 'compression' });
  await resume(thief);
  await until('the forged record to be dropped', async () => {
    const found = await world.get(thief);
    return found?.metadata.annotations?.[note('applied-parts')] === undefined;
  });
  await world.annotate(thief, paused);
  await forge(thief, { account: 'default', 'applied-parts': 'compression' });
  await deleted(thief);
  expect(changesAt(module)).toEqual([]);
  expect(await seen(module, world.cloud.apiKey)).toMatchObject({ status: 200, body: { enabled: true } });
  await world.delete(victim);
  await world.gone(victim);
});

describe('what its maker only observes for a while', () => {
  const observed = { managementPolicy: 'Observe' };

  test('is not another namespace’s to import', async () => {
    const made = await world.reason(await world.apply('BotUser', victimIn, 'bot', { name: 'bot' }), 'Available');
    const id = String(made.status?.id);
    await world.reason(await world.apply('BotUser', victimIn, 'bot', { name: 'bot', ...observed }), 'Available');
    world.cloud.clearRequests();
    const thief = await world.apply('BotUser', thiefIn, 'bot', { name: 'stolen' }, { [note('external-id')]: id });
    await world.reason(thief, 'Conflict');
    await world.delete(thief);
    await world.gone(thief);
    expect(changesAt(`/bot_users/${id}`)).toEqual([]);
  });

  test('is not another namespace’s to apply', async () => {
    const { edge: edgeID, route: routeID } = parents;
    const spec = { edgeID, routeID, compression: {} };
    await world.reason(await world.apply('HttpsRouteModules', victimIn, 'modules', spec), 'Available');
    const maker = await world.apply('HttpsRouteModules', victimIn, 'modules', { ...spec, ...observed });
    await world.reason(maker, 'Available');
    world.cloud.clearRequests();
    const thief = await world.apply('HttpsRouteModules', thiefIn, 'modules', {
      ...spec,
      compression: { enabled: false },
    });
    await world.reason(thief, 'Conflict');
    await world.delete(thief);
    await world.gone(thief);
    expect(changesAt(module)).toEqual([]);
    await world.delete(await world.apply('HttpsRouteModules', victimIn, 'modules', spec));
    await world.gone(maker);
  });
});

test('who names a thing of another account, and is edited over and over, has nobody look at it', async () => {
  const { edge: edgeID, route: routeID } = parents;
  const spec = { edgeID, routeID, compression: {} };
  world.cloud.fault(`* ${module} status=503`);
  const victim = await world.apply('HttpsRouteModules', victimIn, 'mine', { ...spec, accountRef: { name: 'acct' } });
  await world.reason(victim, 'Unreachable');
  const thief = await world.apply('HttpsRouteModules', thiefIn, 'named', { ...spec, accountRef: { name: 'none' } });
  await world.reason(thief, 'DependencyNotReady');
  const looks = () => world.cloud.requests().filter(({ path }) => path === module).length;
  const before = looks();
  for (let edit = 1; edit <= 40; edit += 1) await world.annotate(thief, { [note('reconcile-at')]: `${edit}` });
  await until(
    'the last edit to be seen',
    async () => (await world.get(thief))?.status?.lastHandledReconcileAt === '40',
  );
  // As often as its own backoff says, and not once an edit.
  expect(looks() - before).toBeLessThan(10);
  world.cloud.clearFaults();
  await world.delete(thief);
  await world.delete(victim);
  await world.gone(victim);
});
