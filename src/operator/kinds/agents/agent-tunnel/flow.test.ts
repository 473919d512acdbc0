import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../../common/http/errors.ts';
import type { TunnelDefinition } from '../../../agent-client/client.ts';
import type { Tunnel } from '../../../agent-client/schemas.ts';
import { annotation } from '../../../reconcile/annotations.ts';
import { withoutBulk } from '../../../reconcile/bulk.ts';
import { contextOf } from '../../../reconcile/context.fixture.ts';
import { fingerprint } from '../../../reconcile/json.ts';
import { Memory } from '../../../reconcile/memory.ts';
import type { Report } from '../../../reconcile/outcome.ts';
import type { Condition, ManagedObject } from '../../../reconcile/resource.ts';
import type { Annotations, ObjectWriter } from '../../../reconcile/writer.ts';
import type { Agents } from '../registry/agents.ts';
import { TunnelFlow } from './flow.ts';
import { startedOf } from './started.ts';

const createSettleMs = 60_000;
const rates = { count: 0, rate1: 0, rate5: 0, rate15: 0, p50: 0, p90: 0, p95: 0, p99: 0 };

/** The resource as Kubernetes has it, and what runs in the agent. */
let object: ManagedObject;
let running: Tunnel | undefined;
/** What the agent does with the next POST. */
let onStart: (asked: Tunnel) => Tunnel;
let memory: Memory;
let now: number;
/** Of which the cache knows nothing yet. */
let isGone: boolean;

const agent = {
  url: 'http://agent',
  find: async () => running,
  start: async (definition: TunnelDefinition) => onStart(shown(definition)),
  stop: async () => {
    running = undefined;
  },
};
const flow = new TunnelFlow(
  {
    of: () => agent,
    isInUse: () => true,
    visit: (_url: string, _namespace: string, use: (it: typeof agent) => Promise<unknown>) => use(agent),
  } as unknown as Agents,
  createSettleMs,
);

beforeEach(() => {
  object = {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'AgentTunnel',
    metadata: { name: 'web', namespace: 'ns', uid: 'u', generation: 1 },
    spec: { agentRef: { name: 'dev' }, proto: 'http', addr: '8080' },
  };
  [running, memory, now, isGone] = [undefined, new Memory(), 0, false];
});

function shown({ name = '', proto, addr }: TunnelDefinition): Tunnel {
  const metrics = { conns: { ...rates, gauge: 0 }, http: rates };
  const config = { addr, inspect: true };
  return { name, uri: `/api/tunnels/${name}`, public_url: 'http://web.localhost', proto, config, metrics };
}

async function annotate(read: ManagedObject, annotations: Annotations): Promise<ManagedObject> {
  const kept = Object.entries({ ...read.metadata.annotations, ...annotations }).filter(([, value]) => value !== null);
  object = { ...read, metadata: { ...read.metadata, annotations: Object.fromEntries(kept) as Record<string, string> } };
  return object;
}
const writer = {
  record: async (read: ManagedObject, records: Annotations) => {
    const isThere = Object.entries(records).every(([name, value]) => read.metadata.annotations?.[name] === value);
    return isThere ? read : annotate(read, records);
  },
  insist: (read: ManagedObject, annotations: (latest: ManagedObject) => Annotations) =>
    annotate(read, annotations(read)),
  removeFinalizer: async () => {},
  confirm: async (read: ManagedObject) => {
    if (isGone) throw new Error('it has gone');
    return read;
  },
} as unknown as ObjectWriter;

const context = () =>
  contextOf(object, { writer, memory, now: () => now, connection: { key: 'ns/dev', client: undefined } });
const reconcile = async () => ((await flow.ensure(context())) as Report).reason;

const failure = (reason: 'Unreachable' | 'Rejected') =>
  new ApiError('said why', { operation: 'tunnels.start', reason, definite: reason === 'Rejected' });

/** The first POST has no answer, and is carried out just before the second. */
async function startLate(edit: Partial<ManagedObject['spec']> = {}): Promise<void> {
  let late: Tunnel | undefined;
  onStart = (asked) => {
    late = asked;
    throw failure('Unreachable');
  };
  expect(await reconcile()).toBe('Unreachable');
  object = { ...object, spec: { ...object.spec, ...edit } };
  onStart = () => {
    running = late;
    throw failure('Rejected');
  };
  expect(await reconcile()).toBe('Rejected');
}

test('a tunnel that came late, and whose name is refused as in use, goes with its resource', async () => {
  await startLate();
  if (!flow.leavesNothing(object)) await flow.remove(context());
  expect(running).toBeUndefined();
});

test('one that came late as it was asked for before is replaced, and no Conflict', async () => {
  await startLate({ addr: '9090' });
  onStart = (asked) => {
    running = asked;
    return asked;
  };
  expect(await reconcile()).toBe('Available');
  expect(running).toMatchObject({ config: { addr: '9090' } });
});

test('what was refused and never asked for before is on no record', async () => {
  onStart = () => {
    throw failure('Rejected');
  };
  expect(await reconcile()).toBe('Rejected');
  expect(flow.leavesNothing(object)).toBe(true);
});

test.each([
  ['started', undefined],
  ['stopped, to be started otherwise', { addr: '9090' }],
  ['stopped, to be started under another name', { tunnelName: 'other' }],
])('no tunnel is %s by another process for what has gone', async (_, edit) => {
  onStart = (asked) => {
    running = asked;
    return asked;
  };
  expect(await reconcile()).toBe('Available');
  if (edit === undefined) running = undefined;
  const before = running;
  object = { ...object, spec: { ...object.spec, ...edit } };
  [memory, isGone] = [new Memory(), true];
  await expect(reconcile()).rejects.toThrow('it has gone');
  expect(running).toBe(before);
});

const ready: Condition = {
  type: 'Ready',
  status: 'True',
  observedGeneration: 1,
  reason: 'Available',
  message: '',
  lastTransitionTime: '',
};

describe('a start without an answer', () => {
  /** What is carried out when it pleases the agent. */
  let late: Tunnel | undefined;
  const lose = async () => {
    onStart = (asked) => {
      late = asked;
      throw failure('Unreachable');
    };
    expect(await reconcile()).toBe('Unreachable');
  };
  const carriedOut = () => {
    running = late;
  };

  test.each([
    ['is deleted', undefined],
    ['asks for another name', { tunnelName: 'other' }],
  ])('is waited for where its resource %s, and what it started is stopped', async (_, edit) => {
    await lose();
    object = { ...object, spec: { ...object.spec, ...edit } };
    const step = () => (edit === undefined ? flow.remove(context()) : flow.ensure(context()));
    expect(await step()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
    now += 1_000;
    carriedOut();
    expect(await step()).toMatchObject({ retry: { kind: 'after', ms: createSettleMs - 1_000 } });
    expect(running).toBeUndefined();
    now += createSettleMs;
    onStart = (asked) => {
      running = asked;
      return asked;
    };
    await step();
    expect(running?.name).toBe(edit?.tunnelName);
  });

  test('of an earlier process is waited for', async () => {
    await lose();
    memory = new Memory();
    expect(await flow.remove(context())).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
    now += createSettleMs;
    expect(await flow.remove(context())).toEqual({ kind: 'finished' });
  });

  test('and another one, of an edited spec: what the first one started is replaced, and goes with its resource', async () => {
    await lose();
    const first = late;
    object = { ...object, spec: { ...object.spec, addr: '9090' } };
    await lose();
    running = first;
    onStart = (asked) => {
      running = asked;
      return asked;
    };
    expect(await reconcile()).toBe('Available');
    expect(running).toMatchObject({ config: { addr: '9090' } });
    running = first;
    expect(await reconcile()).toBe('Available');
    expect(running).toMatchObject({ config: { addr: '9090' } });
    now += createSettleMs;
    expect(await reconcile()).toBe('Available');
    running = first;
    expect(await reconcile()).toBe('Conflict');
  });

  test('and another one: what the first one started is stopped with the resource', async () => {
    await lose();
    const first = late;
    object = { ...object, spec: { ...object.spec, addr: '9090' } };
    await lose();
    running = first;
    await flow.remove(context());
    expect(running).toBeUndefined();
  });

  test.each([
    ['refused, as the first has just taken the name', 'Rejected' as const],
    ['lost as well', 'Unreachable' as const],
  ])('and another one, which ran and was to be replaced, where that was %s', async (_, how) => {
    await lose();
    const first = late;
    object = { ...object, spec: { ...object.spec, options: { subdomain: 'shop' } } };
    await lose();
    carriedOut();
    onStart = () => {
      running = first;
      throw failure(how);
    };
    expect(await reconcile()).toBe(how);
    now += createSettleMs;
    await flow.remove(context());
    expect(running).toBeUndefined();
  });

  test('of a changed definition is waited for by another process, whatever the status says of the one before', async () => {
    onStart = (asked) => {
      running = asked;
      return asked;
    };
    const { fields = {} } = (await flow.ensure(context())) as Report;
    object = { ...object, status: { ...fields, conditions: [ready] } };
    object = { ...object, metadata: { ...object.metadata, generation: 2 }, spec: { ...object.spec, addr: '9090' } };
    now += 1_000;
    await lose();
    memory = new Memory();
    expect(await flow.remove(context())).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
  });

  test.each([
    ['', 1_000],
    ['and the clock was set back to the moment of the first, ', 0],
  ])(
    'again, as the agent started anew, %sis waited for by another process, whatever the status says',
    async (_, at) => {
      onStart = (asked) => {
        running = asked;
        return asked;
      };
      const { fields = {} } = (await flow.ensure(context())) as Report;
      expect(fields).toMatchObject({ startedAt: '1970-01-01T00:00:00.000Z' });
      object = { ...object, status: { ...fields, conditions: [ready] } };
      [running, now] = [undefined, at];
      await lose();
      memory = new Memory();
      expect(await flow.remove(context())).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
      carriedOut();
      now += createSettleMs;
      expect(await flow.remove(context())).toEqual({ kind: 'finished' });
      expect(running).toBeUndefined();
    },
  );

  test.each([
    ['this process', () => {}],
    [
      'another process',
      () => {
        memory = new Memory();
      },
    ],
  ])('and one of another definition that was answered: of both is let go by %s', async (_, take) => {
    await lose();
    const first = late;
    object = { ...object, spec: { ...object.spec, addr: '9090' } };
    onStart = (asked) => {
      running = asked;
      return asked;
    };
    const { fields = {} } = (await flow.ensure(context())) as Report;
    object = { ...object, status: { ...fields, conditions: [ready] } };
    take();
    expect(await flow.remove(context())).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
    [running, now] = [first, createSettleMs];
    expect(await flow.remove(context())).toEqual({ kind: 'finished' });
    expect(running).toBeUndefined();
  });

  test('is on record for no longer than it may be carried out', async () => {
    await lose();
    object = { ...object, spec: { ...object.spec, addr: '9090' } };
    onStart = (asked) => {
      running = asked;
      return asked;
    };
    const { fields = {} } = (await flow.ensure(context())) as Report;
    object = { ...object, status: { ...fields, conditions: [ready] } };
    await reconcile();
    expect(startedOf(object)?.before).toHaveLength(1);
    now += createSettleMs;
    await reconcile();
    expect(startedOf(object)).not.toHaveProperty('before');
  });

  test('leaves whose the tunnel is in the status', async () => {
    object = { ...object, status: { agentURL: agent.url, tunnelName: 'web', uri: '/api/tunnels/web' } };
    onStart = () => {
      throw failure('Unreachable');
    };
    expect(await flow.ensure(context())).toMatchObject({ fields: { agentURL: agent.url, tunnelName: 'web' } });
  });
});

test('the record of the longest definition is kept by a cache', async () => {
  const [proto, tunnelName] = ['p'.repeat(63), 'n'.repeat(256)];
  onStart = () => {
    throw failure('Unreachable');
  };
  for (let n = 0; n < 12; n += 1) {
    object = { ...object, spec: { ...object.spec, proto, tunnelName, addr: `${'"'.repeat(2_046)}${n}` } };
    await reconcile();
  }
  onStart = (asked) => ({ ...asked, config: { ...asked.config, addr: `http://${asked.config.addr}/x` } });
  await reconcile();
  expect(startedOf(object)).toBeDefined();
  expect(startedOf(withoutBulk(object))).toEqual(startedOf(object));
});

test('a running tunnel is stopped at once, with its resource', async () => {
  onStart = (asked) => {
    running = asked;
    return asked;
  };
  const { fields = {} } = (await flow.ensure(context())) as Report;
  object = { ...object, status: { ...fields, conditions: [ready] } };
  memory = new Memory();
  expect(await flow.remove(context())).toEqual({ kind: 'finished' });
  expect(running).toBeUndefined();
});

describe('what an earlier version started', () => {
  const record = { uid: 'u', url: agent.url, name: 'web', proto: 'http', addr: '8080', options: fingerprint({}) };
  const shownAs = (generation: number) => {
    const annotations = { [annotation.startedTunnel]: JSON.stringify({ ...record, generation }) };
    const status = { agentURL: agent.url, tunnelName: 'web', uri: '/api/tunnels/web', conditions: [ready] };
    object = { ...object, metadata: { ...object.metadata, annotations }, status };
    running = shown({ name: 'web', proto: 'http', addr: '8080' });
  };

  test('is left as it is, status and record', async () => {
    shownAs(1);
    const { metadata, status } = object;
    const { fields } = (await flow.ensure(context())) as Report;
    expect(object.metadata).toEqual(metadata);
    expect({ ...status, ...fields }).toEqual({ ...status, publicURL: 'http://web.localhost' });
  });

  test.each([
    ['at once where its status is of the generation that it was started for', 1, { kind: 'finished' }],
    ['and waited for where that is of an earlier one', 2, { retry: { kind: 'after', ms: createSettleMs } }],
  ])('is stopped %s', async (_, generation, outcome) => {
    shownAs(generation);
    expect(await flow.remove(context())).toMatchObject(outcome);
    expect(running).toBeUndefined();
  });

  test('and was started again is waited for', async () => {
    shownAs(1);
    running = undefined;
    onStart = () => {
      throw failure('Unreachable');
    };
    await reconcile();
    memory = new Memory();
    expect(await flow.remove(context())).toMatchObject({ retry: { kind: 'after', ms: createSettleMs } });
  });
});

test('a tunnel that was adopted goes at once with its resource', async () => {
  running = shown({ name: 'web', proto: 'http', addr: '8080' });
  const { fields = {} } = (await flow.ensure(context())) as Report;
  object = { ...object, status: { ...fields, conditions: [ready] } };
  memory = new Memory();
  expect(await flow.remove(context())).toEqual({ kind: 'finished' });
});
