import { beforeEach, describe, expect, test } from '@jest/globals';
import { ApiError } from '../../../common/http/errors.ts';
import type { ManagedObject } from '../resource/resource.ts';
import { left, PartsFixture } from './parts.fixture.ts';

let scene: PartsFixture;

beforeEach(() => {
  scene = new PartsFixture();
});

describe('a part that was there and is not found', () => {
  const proven = left({ observedGeneration: 2 });
  const object: ManagedObject = { ...proven, status: { ...proven.status, ownership: { parts: ['thing'] } } };
  const ensureBy = (get: () => Promise<object | undefined>) => {
    const one = scene.flow([{ ...scene.part, get }]);
    return () => {
      const context = scene.contextFor(object);
      return one.ensure({ ...context, occasion: { ...context.occasion, requested: false } });
    };
  };

  test('is put there again by a second answer, some seconds later', async () => {
    const ensure = ensureBy(async () => undefined);
    const unsure = { reason: 'Updating', message: expect.stringContaining('making sure that it is gone') };
    expect(await ensure()).toMatchObject({ ...unsure, retry: { kind: 'after', ms: 3_000 } });
    scene.now += 1_000;
    expect(await ensure()).toMatchObject({ ...unsure, retry: { kind: 'after', ms: 2_000 } });
    scene.now += 2_000;
    expect({ outcome: await ensure(), calls: scene.calls }).toMatchObject({
      ...{ outcome: { reason: 'Available' }, calls: ['put'] },
    });
  });

  test('is looked for again some seconds after the first answer, however long that took', async () => {
    const ensure = ensureBy(async () => {
      scene.now += 60_000;
      return undefined;
    });
    expect(await ensure()).toMatchObject({ reason: 'Updating', retry: { kind: 'after', ms: 3_000 } });
    scene.now += 3_000;
    expect(await ensure()).toMatchObject({ reason: 'Available' });
  });

  test('is looked for twice with the key in force: what another one denied says nothing', async () => {
    const one = scene.flow([{ ...scene.part, get: async () => undefined }]);
    let since = 0;
    const ensure = () => {
      const context = scene.contextFor(object);
      const connection = { ...context.connection, since };
      return one.ensure({ ...context, connection, occasion: { ...context.occasion, requested: false } });
    };
    expect(await ensure()).toMatchObject({ reason: 'Updating' });
    scene.now += 60_000;
    since = scene.now;
    expect(await ensure()).toMatchObject({ reason: 'Updating', retry: { kind: 'after', ms: 3_000 } });
    expect(scene.calls).toEqual([]);
  });

  test('is left as it is where the next answer shows it: a PUT would reset what the spec leaves out', async () => {
    const answers = [undefined, {}];
    const ensure = ensureBy(async () => answers.shift());
    expect(await ensure()).toMatchObject({ reason: 'Updating' });
    scene.now += 3_000;
    expect(await ensure()).toMatchObject({ reason: 'Available' });
    expect(scene.calls).toEqual([]);
  });

  test('with all of its parent is not looked for twice each time', async () => {
    let gets = 0;
    const get = async () => {
      gets += 1;
      return undefined;
    };
    const one = scene.flow([
      {
        ...{ ...scene.part, get },
        replace: async () => {
          scene.calls.push('put');
          throw new ApiError('404', { reason: 'NotFound', definite: true });
        },
      },
    ]);
    for (const ms of [3_000, 3_600_000, 0]) {
      await one.ensure(scene.contextFor(object));
      scene.now += ms;
    }
    expect({ gets, calls: scene.calls }).toEqual({ gets: 3, calls: ['put', 'put'] });
  });
});
