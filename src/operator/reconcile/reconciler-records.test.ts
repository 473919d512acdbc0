import { beforeEach, describe, expect, test } from '@jest/globals';
import { object, ReconcilerFixture } from './reconciler.fixture.ts';
import type { ReconcilerOptions } from './reconciler.ts';
import { annotation, finalizer } from './resource/annotations.ts';
import type { ManagedObject } from './resource/resource.ts';

let fixture: ReconcilerFixture;
beforeEach(() => {
  fixture = new ReconcilerFixture();
});

test('of a manifest that was copied onto it only the id that it names is taken', async () => {
  const others = { [annotation.appliedParts]: 'a,b', [annotation.createIntent]: '{}', [annotation.externalID]: 'x' };
  const records = { [annotation.recordOf]: 'u', [annotation.appliedParts]: 'a', [annotation.externalID]: 'y' };
  fixture.memory.of('u').records = records;
  const annotations = { ...others, [annotation.recordOf]: 'another' };
  fixture.cached = { ...object, metadata: { ...object.metadata, finalizers: [finalizer], annotations } };
  let recorded: unknown;
  const record = async (given: ManagedObject, put: unknown) => {
    recorded = put;
    return given;
  };
  await fixture.reconcile(() => {}, { writer: { record, writeStatus: async () => ++fixture.writes } as never });
  expect(recorded).toEqual({ ...records, [annotation.externalID]: 'x', [annotation.createIntent]: null });
});

describe('records that are otherwise than they were', () => {
  const withParts = (parts: string, installation = 'one'): ManagedObject => {
    const own = { [annotation.recordOf]: 'u', [annotation.installation]: installation };
    const annotations = { ...own, [annotation.appliedParts]: parts };
    return { ...object, metadata: { ...object.metadata, finalizers: [finalizer], annotations } };
  };

  test.each<[string, string, Partial<ReconcilerOptions<undefined>>, number]>([
    ['are put back', 'one', {}, 1],
    ['are left where another replica works on it', 'one', { isMine: () => false }, 0],
    ['are left where another installation wrote them', 'two', {}, 0],
  ])('%s', async (_, by, changes, times) => {
    let now = 0;
    const time = { now: () => now, wall: () => 0 };
    fixture.cached = withParts('a,b');
    await fixture.reconcile(() => {}, { time });
    now = 600_000;
    fixture.cached = withParts('a', by);
    await fixture.reconcile(() => {}, { time, ...changes });
    expect(fixture.held).toBe(times);
  });

  /** Changed, and reconciled at once and when that asks for it, so many times; answers whether a call was sent each time. */
  async function war(times: number): Promise<readonly boolean[]> {
    await fixture.reconcile(() => {});
    fixture.memory.of('u').recordsOpenUntil = Number.NEGATIVE_INFINITY;
    const sent: boolean[] = [];
    for (let time = 0; time < times; time += 1) {
      fixture.cached = withParts('a');
      let isSent = false;
      const result = await fixture.reconcile(() => {
        isSent = true;
      });
      sent.push(isSent);
      if (!isSent && result.kind === 'after') fixture.now += result.ms;
    }
    return sent;
  }

  test('again and again are put back ten times at once, then later and later, and nothing is sent meanwhile', async () => {
    fixture.cached = withParts('a,b');
    expect(await war(14)).toEqual([...Array.from({ length: 10 }, () => true), false, true, false, true]);
    expect(fixture.held).toBe(12);
    expect(fixture.now).toBe(1_024 + 2_048);
  });

  test('and that is in the condition meanwhile', async () => {
    fixture.cached = withParts('a,b');
    let written: ManagedObject['status'];
    await war(10);
    const writeStatus = async (_: ManagedObject, status: ManagedObject['status']) => {
      written = status;
      return { status };
    };
    expect(await fixture.reconcile(() => {}, { writer: { writeStatus } as never })).toMatchObject({
      kind: 'after',
      ms: 1_024,
    });
    expect(written?.conditions?.[0]).toMatchObject({
      reason: 'DependencyNotReady',
      message: expect.stringContaining("takes the operator's annotations or finalizer away again and again"),
    });
  });

  test('are put back at once where the resource of that name is another one', async () => {
    fixture.cached = withParts('a,b');
    await war(11);
    fixture.reconcilers[0]?.forget(withParts('a'));
    expect(fixture.restorations.wait('u')).toBe(0);
  });
});

describe('one that was replaced by a manifest without finalizer while no operator ran', () => {
  const wiped = (ownership: object) => ({
    ...object,
    spec: { accountRef: { name: 'none' } },
    status: { ownership: { installation: 'one', ...ownership } },
  });

  test('is held for what its status says that it made, also where it is refused', async () => {
    fixture.cached = wiped({ id: 'x', how: 'Created', account: 'default' });
    await fixture.reconcile(() => {
      throw new Error('it is to be refused');
    });
    expect([fixture.held, fixture.writes]).toEqual([1, 1]);
  });

  test('is not where it made nothing', async () => {
    fixture.cached = wiped({});
    await fixture.reconcile(() => {});
    expect(fixture.held).toBe(0);
  });
});
