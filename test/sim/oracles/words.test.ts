import { beforeEach, describe, expect, test } from '@jest/globals';
import { doesNotDie } from './does-not-die.ts';
import { noCanary } from './no-canary.ts';
import { available, FakeWorld, operator } from './witness/witness.fixture.ts';

let world: FakeWorld;

beforeEach(() => {
  world = new FakeWorld();
});

function log(level: string, message: string, fields: object = {}) {
  world.logs.push({ at: 0, process: operator, level, message, fields: { ...fields } });
}

describe('does-not-die', () => {
  test('ends that were asked for, and errors that happen', () => {
    const judge = world.judge(doesNotDie);
    const deposed = Object.assign(new Error('another replica'), { name: 'LeadershipLostError' });
    world.endings.push(
      { at: 0, process: operator, asked: true },
      { at: 0, process: operator, asked: false, error: deposed },
    );
    log('error', 'lost leadership', { error: 'timeout' });
    log('info', 'a TypeError in what a person wrote');
    judge.atRest?.();
    expect(world.said).toEqual([]);
  });

  test.each([
    ['without being asked to', { asked: false }],
    ['with Error: what', { asked: false, error: new Error('what') }],
    ['with Error: late', { asked: true, error: new Error('late') }],
  ])('an end %s', (how, ending) => {
    const judge = world.judge(doesNotDie);
    world.endings.push({ at: 0, process: operator, ...ending });
    judge.atEnd?.();
    expect(world.said).toEqual([`does-not-die: op-0.0 ended ${how}`]);
  });

  test('an error that nobody foresaw, seen as soon as anything is sent', async () => {
    world.judge(doesNotDie);
    log('error', 'reconcile failed', { error: "TypeError: Cannot read properties of undefined (reading 'x')" });
    await world.call({ method: 'GET', path: '/bot_users' });
    expect(world.said).toHaveLength(1);
  });
});

describe('no-canary', () => {
  const secret = 'main-key-CANARY-17';
  const route = { edgeID: 'e', routeID: 'r' };

  test('what people write is where they want it', async () => {
    const judge = world.judge(noCanary);
    await world.data('Secret', 's', { key: secret });
    await world.data('ConfigMap', 'c', { key: secret });
    const saml = { idpMetadata: `<x>${secret}</x>` };
    await world.write('HttpsRouteModules', 'r', { spec: { ...route, saml } });
    await world.write('HttpsRouteModules', 'r', { status: available(1), by: operator });
    log('info', 'started');
    judge.atRest?.();
    expect(world.said).toEqual([]);
  });

  test('a message, an annotation, a ConfigMap, an event, a log line', async () => {
    const judge = world.judge(noCanary);
    await world.write('BotUser', 'b', { status: { ...available(1), note: secret }, by: operator });
    await world.write('BotUser', 'c', { annotations: { 'edge-operator.dev/record': secret }, by: operator });
    await world.data('ConfigMap', 'endpoint-x', { key: secret }, 'a', operator);
    await world.write('Event', 'e', { spec: { note: secret }, by: operator });
    log('warn', 'refused', { error: `key ${secret}` });
    judge.atRest?.();
    expect(world.said.map((line) => line.replace('no-canary: a secret in ', ''))).toEqual([
      'the status of BotUser a/b',
      'the annotation edge-operator.dev/record of BotUser a/c',
      'the data of ConfigMap a/endpoint-x',
      'the text of Event a/e',
      'a log line of op-0.0: refused',
    ]);
  });
});
