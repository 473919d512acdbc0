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

  test('is plain as somebody gave it, also where it ends as with a uid', () => {
    const { name } = nameOf('prod-20260101');
    expect([name.get(), name.plain()]).toEqual(['prod-20260101', 'prod-20260101']);
  });

  test('else that of its namespace, and the beginning of its uid', async () => {
    const { name } = nameOf(undefined);
    expect([await name.find(always), name.get(), name.plain()]).toEqual([true, 'ops-01234567', 'ops']);
  });

  test('is the namespace alone where that may not be read', async () => {
    const { name } = nameOf(undefined, async () => {
      throw new KubeError('getting Namespace ops', { status: 403, reason: 'Forbidden', message: 'no' });
    });
    expect([await name.find(always), name.get(), name.plain()]).toEqual([true, 'ops', 'ops']);
  });

  test('is waited for while it cannot be read, and empty before', async () => {
    const { name, monotonic } = nameOf(undefined, fails);
    const finding = name.find(always);
    expect([name.get(), name.plain()]).toEqual(['', '']);
    await monotonic.advance(0);
    await monotonic.advance(5_000);
    expect([await finding, name.get()]).toEqual([true, 'ops-01234567']);
  });

  test('that cannot be read for long is told of once in five minutes, and when that is over', async () => {
    const lines: unknown[] = [];
    const told = (level: string) => (message: string) => void lines.push([level, message]);
    const log = { ...silentLog, warn: told('warn'), info: told('info') };
    const monotonic = new ManualClock();
    let isAway = true;
    const client = { get: async <T>() => (await (isAway ? fails() : found())) as T };
    const finding = new InstallationName(undefined, { client, namespace: 'ops', log, monotonic }).find(always);
    await monotonic.advance(0);
    for (let passedMs = 0; passedMs < 9 * 60_000; passedMs += 5_000) await monotonic.advance(5_000);
    const failed = ['warn', 'cannot read the namespace that this installation is known by'];
    expect(lines).toEqual([failed, failed]);
    isAway = false;
    await monotonic.advance(5_000);
    expect(await finding).toBe(true);
    expect(lines.slice(2)).toEqual([['info', 'the namespace that this installation is known by was read']]);
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
