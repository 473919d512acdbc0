import { describe, expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { ManualClock } from '../controller/manual-clock.fixture.ts';
import { KubeError } from './errors.ts';
import { InstallationName } from './installation-name.ts';

type Read = () => Promise<unknown>;

const found: Read = async () => ({ metadata: { name: 'ops', uid: '0123456789abcdef' } });
const fails: Read = async () => {
  throw new Error('the API server hiccups');
};

function nameOf(given: string | undefined, ...reads: Read[]) {
  const monotonic = new ManualClock();
  const client = { get: async <T>() => (await (reads.shift() ?? found)()) as T };
  return { monotonic, name: new InstallationName(given, { client, namespace: 'ops', log: silentLog, monotonic }) };
}

const always = new AbortController().signal;

describe('the name of an installation', () => {
  test('is what somebody gave it, without a request', async () => {
    const { name } = nameOf('blue', fails);
    expect([await name.find(always), name.get()]).toEqual([true, 'blue']);
  });

  test('else that of its namespace, and the beginning of its uid', async () => {
    const { name } = nameOf(undefined);
    expect([await name.find(always), name.get()]).toEqual([true, 'ops-01234567']);
  });

  test('is the namespace alone where that may not be read', async () => {
    const { name } = nameOf(undefined, async () => {
      throw new KubeError('getting Namespace ops', { status: 403, reason: 'Forbidden', message: 'no' });
    });
    expect([await name.find(always), name.get()]).toEqual([true, 'ops']);
  });

  test('is waited for while it cannot be read, and empty before', async () => {
    const { name, monotonic } = nameOf(undefined, fails);
    const finding = name.find(always);
    expect(name.get()).toBe('');
    await monotonic.advance(0);
    await monotonic.advance(5_000);
    expect([await finding, name.get()]).toEqual([true, 'ops-01234567']);
  });

  test('stays what one shard has found when another, which had to wait for it, is given away', async () => {
    const { name } = nameOf(undefined, fails, found);
    const givenAway = new AbortController();
    const waiting = name.find(givenAway.signal);
    expect(await name.find(always)).toBe(true);
    givenAway.abort();
    await waiting;
    expect(name.get()).toBe('ops-01234567');
  });

  test('is not found by whoever is told to stop before', async () => {
    const { name } = nameOf(undefined, fails);
    const stop = new AbortController();
    const waiting = name.find(stop.signal);
    stop.abort();
    expect(await waiting).toBe(false);
  });
});
