import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Act } from '../core/story.ts';
import { oneTunnelEach } from './one-tunnel-each.ts';
import { agentAt } from './witness/tunnels-asked.ts';
import { available, FakeWorld, madeBotUser, operator, unready } from './witness/witness.fixture.ts';

type Fields = Readonly<Record<string, unknown>>;

const record = 'edge-operator.dev/started-tunnel';
const paused = 'edge-operator.dev/paused';
const forceOrphan = 'edge-operator.dev/force-orphan';
const web = { name: 'web', proto: 'http', addr: '8080' };
const spec = { agentRef: { name: 'edge' }, proto: 'http', addr: '8080' };
const longMs = 30_000;

let world: FakeWorld;
let judge: ReturnType<FakeWorld['judge']>;

async function begin(story: ConstructorParameters<typeof FakeWorld>[0] = {}) {
  world = new FakeWorld(story);
  judge = world.judge(oneTunnelEach);
  for (const namespace of ['a', 'b']) await world.write('Agent', 'edge', { namespace, spec: at('agent-a') });
  await world.write('Agent', 'other', { spec: at('agent-b') });
}

beforeEach(() => begin());

const at = (agent: string) => ({ url: `http://${agent}.sim` });

async function spoke() {
  await judge.atRest?.();
  return world.said.map((line) => line.replace('one-tunnel-each: ', ''));
}

function uidOf(namespace: string, name: string): string {
  const all = [...world.kube.snapshot().objects].map(([, { object }]) => object);
  const found = all.find(
    ({ kind, metadata }) => kind === 'AgentTunnel' && metadata.namespace === namespace && metadata.name === name,
  );
  return found?.metadata.uid ?? '';
}

/** What an operator has on record before it starts a tunnel. */
function recordText(name = 'web', { namespace = 'a', agent = 'agent-a', tunnel = 'web' } = {}) {
  return JSON.stringify({ uid: uidOf(namespace, name), ...at(agent), name: tunnel });
}

async function recorded(name: string, { namespace = 'a', agent = 'agent-a', tunnel = 'web' } = {}) {
  await world.write('AgentTunnel', name, {
    namespace,
    annotations: { [record]: recordText(name, { namespace, agent, tunnel }) },
    finalizers: ['edge-operator.dev/external-resource'],
    by: operator,
  });
}

async function says(name: string, status: Fields, namespace = 'a') {
  await world.write('AgentTunnel', name, { namespace, status, by: operator });
}

const runs = (generation = 1, tunnelName = 'web', agent = 'agent-a') =>
  available(generation, { agentURL: at(agent).url, tunnelName });

/** A resource whose tunnel an operator started; all of it is long ago. */
async function started(
  name = 'web',
  { namespace = 'a', ...fields }: Fields & { namespace?: string } = {},
  call: Fields = {},
) {
  await world.write('AgentTunnel', name, { namespace, spec: { ...spec, ...fields } });
  const tunnel = String(fields.tunnelName ?? name);
  await recorded(name, { namespace, tunnel });
  await world.startTunnel('agent-a', { ...web, name: tunnel }, call);
  await says(name, runs(1, tunnel), namespace);
  await world.pass(longMs);
}

async function remove(
  name = 'web',
  { namespace = 'a', by = operator }: { namespace?: string; by?: string | null } = {},
) {
  await world.write('AgentTunnel', name, { namespace, deleting: true });
  await world.remove('AgentTunnel', name, by === null ? { namespace } : { namespace, by });
}

const leak = "tunnel web of agent-a.sim:80 is nobody's; started by op-0.0 for AgentTunnel a/web";

test('one each, none of what is gone, and a person’s', async () => {
  await started('web');
  await started('two');
  await world.write('AgentTunnel', 'two', { deleting: true });
  await world.stopTunnel('agent-a', 'two');
  await world.remove('AgentTunnel', 'two', { by: operator });
  await world.startTunnel('agent-a', { ...web, name: 'own' }, { by: 'person' });
  await madeBotUser(world);
  expect(await spoke()).toEqual([]);
});

describe('what is Ready', () => {
  const ready = (why: string) => [`AgentTunnel a/web says Ready=True, but ${why}`];

  test.each([
    [{ addr: '9090' }, {}, 'addr'],
    [{ proto: 'tcp' }, {}, 'proto'],
    [{ inspect: false }, { inspect: true }, 'inspect'],
    [{ metadata: 'x' }, { options: { metadata: 'y' } }, 'metadata'],
    [{}, { options: { metadata: 'y' } }, 'metadata'],
  ])('runs as %j though the spec says %j', async (shown, asked, field) => {
    await started('web', asked);
    await world.stopTunnel('agent-a', 'web', { by: 'person' });
    await world.startTunnel('agent-a', { ...web, ...shown }, { by: 'person' });
    expect(await spoke()).toEqual(ready(`tunnel web of agent-a.sim:80 differs in ${field}`));
  });

  test.each([
    ['an option that is not shown', 20 * longMs, {}, []],
    [
      'an option that is shown',
      20 * longMs,
      { metadata: 'x' },
      ready('tunnel web of agent-a.sim:80 differs in metadata'),
    ],
    ['one that is not shown, of one that is known', 0, {}, ready('tunnel web of agent-a.sim:80 differs in metadata')],
  ])('was started for whom no backup knows, with %s', async (_, forMs, shown, expected) => {
    await begin({ acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs }] });
    await world.pass(1);
    await world.startTunnel('agent-a', { ...web, ...shown });
    await world.write('AgentTunnel', 'web', { spec: { ...spec, options: { metadata: 'y' } } });
    await recorded('web');
    await says('web', runs());
    expect(await spoke()).toEqual(expected);
  });

  test('runs as it asks, in the agent’s spelling', async () => {
    await started('web', { options: { metadata: 'y' } });
    await world.stopTunnel('agent-a', 'web', { by: 'person' });
    const shown = { ...web, addr: 'http://localhost:8080', metadata: 'y', more: 1 };
    await world.startTunnel('agent-a', shown, { by: 'person' });
    expect(await spoke()).toEqual([]);
  });

  test('does not run', async () => {
    await started();
    await world.stopTunnel('agent-a', 'web', { by: 'person' });
    expect(await spoke()).toEqual(ready('tunnel web of agent-a.sim:80 does not run'));
  });

  test('runs in another agent', async () => {
    await started();
    await world.write('Agent', 'edge', { spec: at('agent-b') });
    expect(await spoke()).toContainEqual(ready('tunnel web of agent-b.sim:80 does not run')[0]);
  });

  test('is behind a Service', async () => {
    await started();
    await world.write('Agent', 'edge', { spec: { serviceRef: { name: 'dev', port: 4040 } } });
    expect(await spoke()).toContainEqual(ready('tunnel web of dev.a.svc:4040 does not run')[0]);
  });

  test('says that it runs elsewhere', async () => {
    await started();
    await says('web', runs(1, 'other'));
    expect(await spoke()).toEqual(ready('its status does not name tunnel web of agent-a.sim:80'));
  });

  test('has no Agent', async () => {
    await started();
    await world.remove('Agent', 'edge');
    await world.pass(1);
    expect(await spoke()).toContainEqual(ready('its Agent is not there')[0]);
  });

  test.each<[string, () => Promise<void>]>([
    ['paused', () => world.write('AgentTunnel', 'web', { annotations: { [paused]: 'true' } })],
    ['edited since', () => world.write('AgentTunnel', 'web', { spec: { ...spec, addr: '1' } })],
    ['deleted', () => world.write('AgentTunnel', 'web', { deleting: true })],
    ['not Ready', () => says('web', unready(1, 'Unreachable', 'Reconciling'))],
  ])('is %s', async (_, change) => {
    await started();
    await world.stopTunnel('agent-a', 'web', { by: 'person' });
    await change();
    expect(await spoke()).toEqual([]);
  });

  test('is nobody’s to look after', async () => {
    await begin({ installations: [{ name: 'op', settings: { watchNamespaces: 'b' } }] });
    await started();
    await world.stopTunnel('agent-a', 'web', { by: 'person' });
    expect(await spoke()).toEqual([]);
  });

  test('has what another one has', async () => {
    await started();
    await world.write('AgentTunnel', 'two', { spec: { ...spec, tunnelName: 'web' } });
    await says('two', runs());
    expect(await spoke()).toEqual(['AgentTunnel a/web and AgentTunnel a/two both have tunnel web of agent-a.sim:80']);
  });
});

describe('what an operator started is left', () => {
  test('when its resource is gone', async () => {
    await started();
    await remove();
    expect(await spoke()).toEqual([leak]);
  });

  test('when its resource asks for another name, or has it in another agent', async () => {
    await started();
    await world.write('AgentTunnel', 'web', { spec: { ...spec, tunnelName: 'two' } });
    await world.startTunnel('agent-a', { ...web, name: 'two' });
    await says('web', runs(2, 'two'));
    expect(await spoke()).toEqual([leak]);
  });

  test.each(['Conflict', 'Rejected'] as const)('to one that names it and is %s', async (reason) => {
    await started();
    await remove();
    await world.write('AgentTunnel', 'other', { spec: { ...spec, tunnelName: 'web' } });
    await says('other', unready(1, reason, 'Stalled'));
    expect(await spoke()).toEqual([leak]);
  });

  test.each([
    ['its Agent cannot be used', 'DependencyNotReady', true],
    ['another has the name that it asks for', 'Conflict', false],
  ])('to one that has it on record, when %s', async (_, reason, isHeld) => {
    await started();
    await world.write('AgentTunnel', 'web', { spec: { ...spec, tunnelName: 'two' } });
    await says('web', unready(2, reason, 'Stalled'));
    expect(await spoke()).toEqual(isHeld ? [] : [leak]);
  });

  test('to one whose status proves it, and that cannot let it go', async () => {
    await started();
    await world.write('AgentTunnel', 'web', { annotations: { [record]: null }, by: operator });
    await world.write('AgentTunnel', 'web', { spec: { ...spec, tunnelName: 'two' } });
    const fields = { agentURL: at('agent-a').url, tunnelName: 'web' };
    await says('web', unready(2, 'DependencyNotReady', 'Reconciling', fields));
    expect(await spoke()).toEqual([]);
  });

  test('to one that copied the record', async () => {
    await started();
    const text = JSON.stringify({ uid: uidOf('a', 'web'), ...at('agent-a'), name: 'web' });
    await remove();
    await world.write('AgentTunnel', 'two', { spec, annotations: { [record]: text } });
    expect(await spoke()).toEqual([leak]);
  });

  test('but not what the agent refused to start', async () => {
    await world.startTunnel('agent-a', web, { by: 'person' });
    await world.call({ method: 'POST', path: '/api/tunnels', body: web, service: 'agent-a', status: 400 });
    expect(await spoke()).toEqual([]);
  });

  test('while no operator is to run', async () => {
    await begin({ acts: [{ at: longMs, do: 'stop', installation: 'op' }] });
    await started();
    await world.write('AgentTunnel', 'web', { spec: { ...spec, tunnelName: 'two' } });
    expect(await spoke()).toEqual([]);
  });

  const trouble = (name: string, forMs: number, with_: Fields = {}) =>
    ({ at: 0, do: 'trouble', name, forMs, with: with_ }) as const;

  test.each([
    ['is forced', forceOrphan, { [forceOrphan]: 'true' }],
    ['loses its record while no operator runs', record, { [record]: null }],
  ])('where it %s', async (_, __, annotations) => {
    await started();
    await world.write('AgentTunnel', 'web', { annotations });
    await remove();
    expect(await spoke()).toEqual([]);
  });

  describe.each([
    ['loses its record', () => null],
    ['has an older record again', () => JSON.stringify({ ...JSON.parse(recordText()), startedAt: 'before' })],
  ])('where it %s', (_, text) => {
    test.each<[string, readonly Act[], string[]]>([
      ['goes on', [], [leak]],
      ['is told to stop', [{ at: 4 * longMs, do: 'stop', installation: 'op' }], []],
      ['is frozen', [{ at: 3 * longMs, do: 'freeze', installation: 'op', forMs: longMs }], []],
    ])('and who started it %s', async (__, acts, expected) => {
      await begin({ acts: [{ at: 0, do: 'start', installation: 'op' }, ...acts] });
      await world.pass(3 * longMs);
      await started();
      await world.write('AgentTunnel', 'web', { annotations: { [record]: text() } });
      await world.pass(2 * longMs);
      await remove();
      expect(await spoke()).toEqual(expected);
    });
  });

  test.each([
    ['an operator takes its record', operator, []],
    ['a person took the record of an earlier start', undefined, [record]],
  ])('where %s', async (_, by, again) => {
    await started();
    await world.write('AgentTunnel', 'web', { annotations: { [record]: null }, ...(by !== undefined && { by }) });
    if (again.length > 0) {
      await world.pass(1);
      await recorded('web');
      await world.startTunnel('agent-a', web);
    }
    await remove();
    expect(await spoke()).toEqual([leak]);
  });

  test('where a person takes its finalizer', async () => {
    await started();
    await world.write('AgentTunnel', 'web', { finalizers: [] });
    await remove('web', { by: null });
    expect(await spoke()).toEqual([]);
  });

  test.each([
    ['nothing of it', 20 * longMs, []],
    ['had it already', 0, [leak]],
  ])('where a backup has %s', async (_, forMs, expected) => {
    await begin({ acts: [trouble('kube-restored', forMs)] });
    await world.pass(1);
    await started();
    await remove();
    expect(await spoke()).toEqual(expected);
  });

  test.each([
    ['and the last Agent is to go', { to: 'agents' }, 20 * longMs, true, []],
    ['and the last Agent is to stay', { to: 'agents' }, 20 * longMs, false, [leak]],
    ['of something else', { to: 'kube' }, 20 * longMs, true, [leak]],
    ['and were taken again', { to: 'agents' }, longMs, true, [leak]],
  ])('where connections are refused, %s', async (_, to, forMs, deleting, expected) => {
    await begin({ acts: [trouble('refused-connections', forMs, to)] });
    await world.remove('Agent', 'edge', { namespace: 'b' });
    await started();
    await world.pass(3 * longMs);
    await world.write('Agent', 'edge', { deleting });
    await remove();
    expect(await spoke()).toEqual(expected);
  });

  test.each([
    ['later than anybody waits', 61_000, []],
    ['late', 59_000, [leak]],
  ])('where the agent started it %s', async (_, ms, expected) => {
    const sentAt = world.scheduler.now;
    await world.write('AgentTunnel', 'web', { spec });
    await world.pass(ms);
    await started('web', {}, { sentAt, arrives: false });
    await remove();
    expect(await spoke()).toEqual(expected);
  });

  test.each([
    ['answered before, and there was a restart', true, true, []],
    ['answered before, and there was no restart', true, false, [leak]],
    ['not answered', false, true, [leak]],
  ])('where a later start was %s', async (_, arrives, isRestarted, expected) => {
    await world.pass(1);
    const sentAt = world.scheduler.now;
    await world.pass(1_000);
    await started('web', {}, { arrives });
    if (isRestarted) world.begin('op-0.1');
    await world.startTunnel('agent-a', web, { sentAt, arrives: false });
    await remove();
    expect(await spoke()).toEqual(expected);
  });
});

describe('a DELETE', () => {
  const stopped = 'DELETE of tunnel web of agent-a.sim:80 by op-0.0';
  const stop = (call: Fields = {}) => world.stopTunnel('agent-a', 'web', call);
  /** What comes after it is of no interest. */
  const saidOfStop = () => world.said.map((line) => line.replace('one-tunnel-each: ', ''));

  test('of what nobody lets go', async () => {
    await started();
    await stop();
    expect(saidOfStop()).toEqual([`${stopped}: no AgentTunnel that had it lets it go; had by AgentTunnel a/web`]);
  });

  test('of what nobody had asked for', async () => {
    await world.startTunnel('agent-a', web);
    await stop();
    expect(saidOfStop()).toEqual([`${stopped}: no AgentTunnel that had it lets it go; had by nobody`]);
  });

  test.each<[string, () => Promise<void>]>([
    ['gone', () => world.remove('AgentTunnel', 'web')],
    ['deleted', () => world.write('AgentTunnel', 'web', { deleting: true })],
    ['edited', () => world.write('AgentTunnel', 'web', { spec: { ...spec, options: { metadata: 'x' } } })],
    ['renamed', () => world.write('AgentTunnel', 'web', { spec: { ...spec, tunnelName: 'two' } })],
    ['moved', () => world.write('Agent', 'edge', { spec: at('agent-b') })],
    ['another’s of its namespace', () => world.write('AgentTunnel', 'two', { spec: { ...spec, tunnelName: 'web' } })],
  ])('of what is %s', async (_, change) => {
    await started();
    await change();
    await stop();
    expect(saidOfStop()).toEqual([]);
  });

  test('of what a backup knows nothing of', async () => {
    await begin({ acts: [{ at: 0, do: 'trouble', name: 'kube-restored', forMs: 20 * longMs }] });
    await started();
    await stop();
    expect(saidOfStop()).toEqual([]);
  });

  test('of what its status does not tell of yet', async () => {
    await world.write('AgentTunnel', 'web', { spec });
    await world.startTunnel('agent-a', web);
    await world.write('AgentTunnel', 'web', { deleting: true });
    await stop();
    expect(saidOfStop()).toEqual([]);
  });

  test('for one that asked for the name, and for something else', async () => {
    await world.write('AgentTunnel', 'web', { namespace: 'b', spec: { ...spec, addr: '9090' } });
    await started();
    await world.write('AgentTunnel', 'web', { namespace: 'b', deleting: true });
    await stop();
    expect(saidOfStop()).toEqual([`${stopped}: no AgentTunnel that had it lets it go; had by AgentTunnel a/web`]);
  });

  test('of a name that has to be encoded', async () => {
    await started('web', { tunnelName: 'a/web?é' });
    await world.stopTunnel('agent-a', 'a/web?é');
    expect(saidOfStop()).toEqual([expect.stringContaining('tunnel a/web?é of')]);
  });

  test('that is done late was asked for when it was sent', async () => {
    await started();
    const sentAt = world.scheduler.now;
    await world.write('AgentTunnel', 'web', { spec: { ...spec, tunnelName: 'two' } });
    await world.pass(1);
    await world.write('AgentTunnel', 'web', { spec });
    await world.pass(longMs);
    await stop({ sentAt });
    expect(saidOfStop()).toEqual([]);
  });

  test('of what was started without an answer', async () => {
    await started('web', {}, { arrives: false });
    await stop();
    expect(saidOfStop()).toEqual([]);
  });

  test('by a person', async () => {
    await started();
    await stop({ by: 'person' });
    expect(saidOfStop()).toEqual([]);
  });

  test('that is done late is of what ran when it was sent', async () => {
    await started('web', {}, { arrives: false });
    const sentAt = world.scheduler.now;
    await world.pass(1_000);
    await world.startTunnel('agent-a', web);
    await world.pass(longMs);
    await stop({ sentAt });
    expect(saidOfStop()).toEqual([]);
  });

  describe('for one namespace, of what another one has', () => {
    /** b/web has it; a/web asked for it too, and had sent the POST. */
    async function both() {
      await started();
      await world.write('AgentTunnel', 'web', { namespace: 'b', spec });
      await says('web', unready(1, 'Conflict', 'Stalled'));
      await world.pass(longMs);
    }

    test('and asks for', async () => {
      await both();
      await says('web', runs(), 'b');
      await world.pass(longMs);
      await world.write('AgentTunnel', 'web', { deleting: true });
      await stop();
      expect(saidOfStop()).toEqual([
        `${stopped}: AgentTunnel b/web has it and asks for it; let go by AgentTunnel a/web`,
      ]);
    });

    const hasIt = async (namespace: string) => {
      await says('web', runs(), namespace);
      await world.pass(longMs);
    };

    test.each<[string, () => Promise<void>]>([
      ['but is not proven to', async () => {}],
      ['but has only just', () => says('web', runs(), 'b')],
      [
        'but no longer asks for',
        async () => {
          await hasIt('b');
          await world.write('AgentTunnel', 'web', { namespace: 'b', spec: { ...spec, tunnelName: 'two' } });
          await world.pass(longMs);
        },
      ],
      [
        'as the first has',
        async () => {
          await says('web', runs());
          await hasIt('b');
        },
      ],
    ])('%s', async (_, change) => {
      await both();
      await change();
      await world.write('AgentTunnel', 'web', { deleting: true });
      await stop();
      expect(saidOfStop()).toEqual([]);
    });

    test('where the one that lets it go is of the same', async () => {
      await both();
      await world.write('AgentTunnel', 'two', { spec: { ...spec, tunnelName: 'web' } });
      await says('two', runs());
      await world.pass(longMs);
      await world.write('AgentTunnel', 'web', { deleting: true });
      await stop();
      expect(saidOfStop()).toEqual([]);
    });
  });
});

test.each([
  ['http://agent-a.sim', 'agent-a.sim:80'],
  ['https://agent-a.sim/api', 'agent-a.sim:443'],
  ['http://agent-a.sim.:4040/', 'agent-a.sim:4040'],
  ['http://dev.a.svc.cluster.local:4040', 'dev.a.svc:4040'],
])('an agent has one address, however it is spelled: %s', (url, agent) => expect(agentAt(url)).toBe(agent));
