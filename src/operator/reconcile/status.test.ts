import { expect, test } from '@jest/globals';
import { silentLog } from '../../common/log.ts';
import { annotation } from './annotations.ts';
import { report } from './outcome.ts';
import type { ManagedObject } from './resource.ts';
import { conclude } from './status.ts';

/** What is written of a resource that names an external id, and has one. */
async function written(named: string, id: string | undefined): Promise<Readonly<Record<string, unknown>>> {
  const annotations = { [annotation.externalID]: named };
  const object: ManagedObject = {
    apiVersion: 'edge-operator.dev/v1alpha1',
    kind: 'BotUser',
    metadata: { name: 'a', namespace: 'ns', uid: 'u', generation: 1, annotations },
    spec: {},
  };
  let status: Readonly<Record<string, unknown>> = {};
  const options = {
    ...{ cache: { get: () => object }, time: { wall: () => 0 }, schedule: { msUntilDue: () => 1 }, log: silentLog },
    ...{ events: { record: () => {} }, installation: { name: 'one' } },
    writer: {
      writeStatus: async (_: ManagedObject, next: typeof status) => {
        status = next;
      },
    },
  };
  await conclude(options, 'ns/a', object, report('ExternalNotFound', 'no', { fields: { id } }));
  return status;
}

test('what was looked for is on record where the id does not say so', async () => {
  expect(await written('bot_1', undefined)).toMatchObject({ lastHandledExternalID: 'bot_1' });
  expect((await written('bot_1', 'bot_1')).lastHandledExternalID).toBeUndefined();
});

test('what is no id is not, as it may be as long as an annotation', async () => {
  expect((await written('x'.repeat(200_000), undefined)).lastHandledExternalID).toBeUndefined();
});
